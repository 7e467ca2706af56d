import { UsageError } from '../errors.ts';
import { someOf } from '../text/one-line.ts';
import { nearHint } from '../text/suggest.ts';
import type { VerbSpec } from './command.ts';
import type { Output, TableOutput } from './output.ts';

/** The outputs with only the fields of `--json=FIELDS`, in that order. Throws UsageError for a field that is nowhere. */
export async function* choosing(
  fields: readonly string[],
  verb: VerbSpec,
  run: () => AsyncIterable<Output> | Iterable<Output>,
): AsyncGenerator<Output> {
  // A verb that writes prints verdicts, which have no fields to choose. Refuse before anything is sent.
  if (verb.options.includes('dryRun')) throw notChosen();
  let hasChosen = false;
  for await (const output of run()) {
    if (output.kind === 'table') yield chosenRows(fields, output);
    else if (output.kind === 'read') yield { ...output, view: { ...output.view, columns: fields } };
    else yield output;
    hasChosen ||= ['table', 'read', 'error'].includes(output.kind);
  }
  if (!hasChosen) throw notChosen();
}

function notChosen(): UsageError {
  return new UsageError(
    '--json=FIELDS chooses fields of records and tables, and this line prints neither: use --json, and jq',
  );
}

function chosenRows(fields: readonly string[], output: TableOutput): TableOutput {
  const { rows, columns } = output;
  const known = new Set([
    ...columns.map(({ key }) => key),
    ...rows.flatMap((row) => Object.keys(row)),
  ]);
  const unknown = fields.find((field) => !known.has(field));
  if (unknown !== undefined) {
    const near = nearHint(unknown, known) || `; the fields are ${someOf([...known], 20)}`;
    throw new UsageError(`there is no field "${unknown}" in "${output.name}"${near}`);
  }
  const chosen = rows.map((row) =>
    Object.fromEntries(
      fields.flatMap((field) => {
        const value = row[field];
        return value === undefined ? [] : [[field, value] as const];
      }),
    ),
  );
  return { ...output, rows: chosen };
}
