import { stringify } from 'csv-stringify/sync';
import { visible, visibleLines } from '../text/visible.ts';
import { gathering } from './quick-writer.ts';
import { remarkWriter } from './text-writer.ts';
import type { Streams, Writer } from './streams.ts';
import { encodeCell } from '../change/record-file/csv-cell.ts';
import { type Value, valueAt, valueText } from '../device/record.ts';
import { maskedRecord } from '../device/sensitive-fields.ts';
import { UsageError } from '../errors.ts';
import type { DriftOutput, Output, TableOutput } from '../shell/output.ts';
import { driftWord } from './drift-text.ts';
import { type ReadTable, readTable } from './read-table.ts';
import { reasonsOf } from './change-text.ts';

/** CSV has no place for failures: they are remarks, as with a table. */
export function csvWriter(streams: Streams): Writer {
  const remarks = remarkWriter(streams);
  const data = gathering((outputs) => {
    const text = csvText(outputs, streams.noHeaders === true);
    streams.out(streams.isTty ? visibleLines(text) : text);
  });
  return {
    write(output) {
      remarks.write(output);
      data.write(output);
    },
    end(error) {
      remarks.clear();
      if (!(error instanceof UsageError)) data.end();
      remarks.end(error);
    },
  };
}

interface Sheet {
  /** Its cells are already encoded so that `import` reads them back. */
  readonly isExact?: boolean;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The data as CSV, with control characters in visible form, and an apostrophe before what would be a formula. */
function csvText(outputs: readonly Output[], isBare: boolean): string {
  return sheetsOf(outputs)
    .map(({ header, rows, isExact }) => {
      const lines = isBare ? [...rows] : [header, ...rows];
      // Quoted also where other separators than the comma are usual.
      if (isExact === true) return stringify(lines, { quoted_match: /[;\t]/ });
      return stringify(
        lines.map((row) => row.map(visible)),
        { escape_formulas: true },
      );
    })
    .join('\n');
}

function sheetsOf(outputs: readonly Output[]): Sheet[] {
  const sheets: Sheet[] = [];
  const reads = outputs.filter((output) => output.kind === 'read');
  const view = reads[0]?.view;
  if (view !== undefined) {
    const table = readTable({ ...view, fold: false }, reads);
    sheets.push(view.file === undefined ? readSheet(table) : exactSheet(table));
  }
  sheets.push(...outputs.filter((output) => output.kind === 'table').map(tableSheet));
  sheets.push(...outputs.filter((output) => output.kind === 'drift').map(driftSheet));
  const results = outputs.filter((output) => output.kind === 'result');
  if (results.length > 0) {
    const header = ['device', 'resource', 'key', 'action', 'verdict', 'reason'];
    const rows = results.map(({ result }) => {
      const { device, resource, key, action, verdict } = result;
      return [device.name, resource, key, action, verdict, reasonsOf(result).join('; ')];
    });
    sheets.push({ header, rows });
  }
  const answers = outputs.filter((output) => output.kind === 'answer');
  if (answers.length > 0) {
    const rows = answers.map(({ device, status, body }) => [device.name, String(status), body]);
    sheets.push({ header: ['device', 'status', 'body'], rows });
  }
  const changes = outputs.filter((output) => output.kind === 'change');
  if (changes.length > 0) {
    const rows = changes.map(({ device, view, change: { kind, key, ...change } }) => {
      const fields = 'fields' in change ? change.fields.join(', ') : '';
      return [device.name, view.resource, key, kind, fields];
    });
    sheets.push({ header: ['device', 'resource', 'key', 'change', 'fields'], rows });
  }
  return sheets;
}

/** Sorted and cut to columns as the table, but never folded: a row is one record of one device. */
function readSheet({ fields, rows }: ReadTable): Sheet {
  return {
    header: ['device', ...fields],
    rows: rows.map(({ devices, record }) => [
      devices[0]?.name ?? '',
      ...cells(maskedRecord(record), fields),
    ]),
  };
}

/** The records as they are, for `import`: every field, the key first. */
function exactSheet({ fields, rows, view }: ReadTable): Sheet {
  // A field named DEVICE would be read as the device column.
  const hasDevice =
    view.file?.isOneDevice !== true || fields.some((field) => /^device$/i.test(field));
  return {
    isExact: true,
    header: [...(hasDevice ? ['DEVICE'] : []), ...fields.map(encodeCell)],
    rows: rows.map(({ devices, record }) => [
      ...(hasDevice ? devices.map(({ name }) => encodeCell(name)) : []),
      ...fields.map((field) => encodeCell(valueAt(record, field))),
    ]),
  };
}

/** The whole matrix: one row a record, one column a device. */
function driftSheet({ drift, resource }: DriftOutput): Sheet {
  const { devices, unread } = drift;
  return {
    header: [drift.keyField || resource, ...[...devices, ...unread].map(({ name }) => name)],
    rows: drift.rows.map(({ key, cells }) => [
      key,
      ...cells.map(driftWord),
      ...unread.map(() => 'not read'),
    ]),
  };
}

function tableSheet({ columns, rows }: TableOutput): Sheet {
  const header = columns.map(({ key }) => key);
  return { header, rows: rows.map((row) => cells(row, header)) };
}

function cells(row: Readonly<Record<string, Value>>, fields: readonly string[]): string[] {
  return fields.map((field) => valueText(valueAt(row, field)));
}
