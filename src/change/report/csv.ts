import { stringify } from 'csv-stringify/sync';
import { visible } from '../../visible.ts';
import { remarksOf, type Report } from './report.ts';

const HEADER = ['device', 'address', 'resource', 'key', 'action', 'verdict', 'at', 'reason'];

/**
 * A report as CSV: one line for each step, in the order of the plan. Control characters are in visible
 * form, and what a spreadsheet would run as a formula has an apostrophe in front.
 */
export function csvReport({ devices }: Report): string {
  const rows = devices.flatMap(({ device: { name, address }, error, steps }) =>
    error !== undefined && steps.length === 0
      ? [[name, address, '', '', '', 'failed', '', error.message]]
      : steps.map(({ result, at = '' }) => {
          const { resource, key, action, verdict } = result;
          return [name, address, resource, key, action, verdict, at, remarksOf(result).join('; ')];
        }),
  );
  return stringify(
    [HEADER, ...rows].map((row) => row.map(visible)),
    { escape_formulas: true },
  );
}
