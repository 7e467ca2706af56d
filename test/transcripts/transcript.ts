/** The initial state of a story. */
export interface Setup {
  readonly devices: number;
  readonly users: number;
  /** The devices are in the inventory as sim1, sim2 ... */
  readonly isListed: boolean;
  readonly isPinned: boolean;
  /** The admin's password is in the environment. */
  readonly isLoggedIn: boolean;
  /** A JSON API with sessions and tokens, which the profile knows. */
  readonly hasSessions: boolean;
  /** A JSON API that shows the hash of each password. */
  readonly hasHashes: boolean;
  /** A JSON API whose passwords log in; the admin's is kept in a vault. */
  readonly hasLogins: boolean;
  /** A literal line. */
  readonly text: string;
}

export type Entry =
  /** `$ devsh …`, `> ` standard input, stdout, `! ` stderr, `[exit N]`. */
  | {
      readonly kind: 'command';
      readonly command: string;
      readonly env: Readonly<Record<string, string>>;
      readonly stdin: readonly string[];
      /** The text after `$`. */
      readonly source: string;
      readonly text: string;
    }
  /** `* sim2 refuse on`: switches a fault. */
  | {
      readonly kind: 'fault';
      readonly device: string;
      readonly fault: string;
      readonly isOn: boolean;
      readonly text: string;
    }
  | { readonly kind: 'note'; readonly text: string };

/**
 * Parses a story: the first line is `= devices=3 users=8 listed pinned login`; then comments (`# …`),
 * faults and commands, each closed by `[exit N]` and an empty line. An update fills in missing output.
 */
export function parseTranscript(source: string): { setup: Setup; entries: Entry[] } {
  const [first = '', ...lines] = source.split('\n');
  const entries: Entry[] = [];
  let block: string[] = [];
  for (const line of lines) {
    if (block.length === 0 && line.startsWith('$ ')) {
      block = [line];
    } else if (block.length > 0) {
      const isEnd = /^\[exit \d+\]$/.test(block.at(-1) ?? '');
      const lacksOutput = block.every((other) => /^[$>] /.test(other));
      block.push(line);
      if (line === '' && (isEnd || lacksOutput)) {
        entries.push(commandOf(block));
        block = [];
      }
    } else if (line.startsWith('* ')) {
      const [, device = '', fault = '', state] = line.split(' ');
      entries.push({ kind: 'fault', device, fault, isOn: state === 'on', text: line });
    } else {
      entries.push({ kind: 'note', text: line });
    }
  }
  if (block.length > 0) entries.push(commandOf([...block, '']));
  return { setup: setupOf(first), entries };
}

function setupOf(text: string): Setup {
  const words = text.replace(/^= */, '').split(' ');
  const number = (name: string, fallback: number): number => {
    const word = words.find((one) => one.startsWith(`${name}=`));
    return word === undefined ? fallback : Number(word.slice(name.length + 1));
  };
  return {
    devices: number('devices', 3),
    users: number('users', 8),
    isListed: words.includes('listed'),
    isPinned: words.includes('pinned'),
    isLoggedIn: words.includes('login'),
    hasSessions: words.includes('sessions'),
    hasHashes: words.includes('password-hash'),
    hasLogins: words.includes('logins'),
    text,
  };
}

function commandOf(block: readonly string[]): Entry {
  const source = (block[0] ?? '').slice(2);
  const words = source.split(' ');
  const program = words.indexOf('devsh');
  const env = Object.fromEntries(
    words.slice(0, program).map((word): [string, string] => {
      const at = word.indexOf('=');
      return [word.slice(0, at), word.slice(at + 1)];
    }),
  );
  const stdin = block.filter((line) => line.startsWith('> ')).map((line) => line.slice(2));
  const command = words.slice(program + 1).join(' ');
  return { kind: 'command', command, env, stdin, source, text: block.join('\n') };
}
