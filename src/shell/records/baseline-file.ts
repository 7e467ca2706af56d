import { readBaseline } from '../../change/record-file/baseline.ts';
import { Problems, type RecordFile } from '../../change/record-file/record-file.ts';
import type { ScopedRows } from '../../change/record-file/scopes.ts';
import { UsageError } from '../../errors.ts';
import { pluralOf } from '../../text/one-line.ts';
import type { Call } from '../command.ts';

/** The expected records of a file, which must be for `resource` if given. */
export function baselineFor(resource: string | undefined, text: string, name: string): RecordFile {
  const file = readBaseline(text, name);
  if (file.resource !== undefined && resource !== undefined && file.resource !== resource) {
    throw new UsageError(`${name} contains ${pluralOf(file.resource)}, not ${pluralOf(resource)}`);
  }
  if (file.filter !== undefined) {
    throw new UsageError(
      `${name} has only the ${pluralOf(file.resource ?? 'record')} that match "${file.filter}": each other one would be unexpected; export without a filter`,
    );
  }
  return file;
}

/** Throws a `UsageError` with the line of each group that the inventory does not have. */
export async function checkScopes(
  { shell }: Call,
  { name }: RecordFile,
  { scopes }: ScopedRows,
): Promise<void> {
  if (scopes.every(({ scope }) => scope.rank === 3 && scope.groups.length === 0)) return;
  const inventory = await shell.services.inventory.load();
  const groups = inventory.groups();
  const known = new Set(groups.map((group) => group.toLowerCase()));
  const problems = new Problems();
  for (const { scope, row } of scopes) {
    for (const group of scope.groups.filter((one) => !known.has(one.toLowerCase()))) {
      problems.add(() => [row.place(), { code: 'no-such-group', group, groups }]);
    }
  }
  problems.throwAny();
  const isAmbiguous =
    inventory.find('all') && scopes.some(({ row }) => /^all\b/i.test(row.device ?? ''));
  if (isAmbiguous === true) {
    throw new UsageError(`${name}: a device is called "all": write @all for all devices`);
  }
}
