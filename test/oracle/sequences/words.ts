import { type Box, spelled } from './box.ts';
import type { Line } from './events.ts';
import type { Machine } from './machine.ts';

/** What a line needs beside its own words. */
interface Typing {
  readonly machine: Machine;
  /** The devices that it names, by their names. */
  readonly boxes: ReadonlyMap<string, Box>;
  readonly names: readonly string[];
  /** The id that it names, as the box shows it. */
  readonly id: string | undefined;
  /** The newest plan file, and the secret of a new password. */
  readonly plan: string | undefined;
  readonly secret: string;
}

export interface Typed {
  readonly words: readonly string[];
  /** Without the passphrase of the vault. */
  readonly stdin: string;
}

/** A line as it is typed; undefined if there is nothing that it could name. */
export async function typed(line: Line, typing: Typing): Promise<Typed | undefined> {
  const { machine, boxes, names, id, plan, secret } = typing;
  // No box lists the login of devsh.
  const yes = ['--yes', '--allow', 'unlisted-login'];
  const on = ['--on', names.join(','), '--timeout', '2', ...yes];
  const also =
    'also' in line && line.also
      ? ['--also', `${[...boxes.keys()][line.also.box % boxes.size] ?? ''}=${line.also.key}`]
      : [];
  const say = (...words: readonly string[]): Typed => ({ words, stdin: '' });
  const word = id === undefined || !('spelling' in line) ? '' : spelled(id, line.spelling);
  switch (line.kind) {
    case 'add':
      return say('user', 'add', `username=${line.key}`, `email=${line.key}@example.net`, ...on);
    case 'set':
      return setOf(line, typing, on);
    case 'set where':
      return say('user', 'set', '--where', `lang=${line.lang}`, 'last_name=Where', ...on);
    case 'delete':
      return say('user', 'delete', line.key, ...on);
    case 'lockout':
      return say('lockout', line.key, '--now', ...yes);
    case 'rotate password': {
      const keeping = await machine.keeping();
      const words = ['rotate', 'password', line.key, '--new-stdin', ...on, ...keeping];
      return { words, stdin: `${secret}\n` };
    }
    case 'rotate token':
      return say('rotate', 'token', line.key, ...on, ...(await machine.keeping()));
    case 'new name':
      return say('user', 'set', line.key, `username=${line.to}`, ...on);
    case 'set id':
      return id === undefined ? undefined : say('user', 'set', `id=${word}`, 'lang=pt', ...on);
    case 'delete id':
      return id === undefined ? undefined : say('user', 'delete', `id=${word}`, ...on);
    case 'raw delete':
      return id === undefined ? undefined : say('delete', `/api/user/${word}/`, ...on);
    case 'raw post':
      return say('post', '/api/user/', `username=${line.key}`, 'email=raw@example.net', ...on);
    case 'plan': {
      const words = ['plan', '-', '-o', plan ?? '', ...on.slice(0, -3)];
      return { words, stdin: changeSet(line.key, line.fields) };
    }
    case 'apply':
      return plan === undefined ? undefined : say('apply', plan, '--timeout', '2', ...yes);
    case 'undo':
      return say('undo', ...yes, '--allow', 'loss', ...also);
    case 'undo RUN':
      return say('undo', runAt(machine, line.run), ...yes, '--allow', 'loss', ...also);
    case 'resume RUN':
      return say('resume', runAt(machine, line.run), ...yes, ...also);
    case 'resume':
      return say('resume', ...yes, ...also);
    case 'drop':
      return say('pending', 'drop', runAt(machine, line.run), '--reason', 'scrapped');
    case 'restore':
      return say('user', 'restore', line.key, '--at', machine.truth.startedAt, ...on, ...also);
  }
}

export function runAt({ runs }: Machine, index: number): string {
  return runs.at(-1 - index) ?? '';
}

function setOf(
  { key, fields, way }: Line & { readonly kind: 'set' | 'plan' },
  { boxes, names }: Typing,
  on: readonly string[],
): Typed {
  const pairs = Object.entries(fields);
  if (way === 'change set') {
    return { words: ['apply', '-', ...on], stdin: changeSet(key, fields) };
  }
  if (way === undefined || way === 'line') {
    const words = pairs.map(([field, value]) => `${field}=${value}`);
    return { words: ['user', 'set', key, ...words, ...on], stdin: '' };
  }
  const rows = (way === 'import' ? [''] : names).map((name) => {
    const id = boxes.get(name)?.named(key)[0]?.id ?? '';
    return [name, id, key, ...pairs.map(([, value]) => value)].join(',');
  });
  const head = ['DEVICE', 'id', 'username', ...pairs.map(([field]) => field)].join(',');
  return { words: ['import', '-', ...on], stdin: [head, ...rows, ''].join('\n') };
}

function changeSet(key: string, fields: Readonly<Record<string, string>>): string {
  return `- set: user\n  key: ${key}\n  fields: ${JSON.stringify(fields)}\n`;
}
