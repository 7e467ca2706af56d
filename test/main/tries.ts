import { ADMIN, makeDevsh } from './devsh.ts';

interface Tried {
  readonly understood: readonly { readonly about: string; readonly finding: string }[];
  readonly requests: readonly { readonly sends: string | null }[];
}

/** More would be a loop. */
const MAX_TRIES = 4;

/**
 * Tries a device of which only the address is known, and states what each try says, until one shows the
 * records, and what add, set and delete would send. `tries` says how many that takes.
 */
export async function triesUntilRecords(
  address: string,
  resource = 'user',
): Promise<{ readonly tries: number; readonly records: string }> {
  const devsh = await makeDevsh(ADMIN);
  await devsh(['device', 'add', 'box', address, '--insecure']);
  let last = '';
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const { stdout, stderr } = await devsh(`profile try box ${resource} --json`);
    const { understood, requests } = JSON.parse(stdout) as Tried;
    const records = understood.find(({ about }) => about === 'records')?.finding;
    const isWhole = requests.length === 3 && requests.every(({ sends }) => sends !== null);
    if (records !== undefined && isWhole) return { tries, records };
    last = stdout + stderr;
    const [, line] = /"(profile set (?!DEVICE)[^"]+)"/.exec(stderr) ?? [];
    if (line === undefined) break;
    await devsh(line);
  }
  throw new Error(`no records: ${last}`);
}
