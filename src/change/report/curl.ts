import { recordName } from '../record-name.ts';
import { curlScript, type CurlCall } from './curl-script.ts';
import type { Report, StepReport } from './report.ts';

/**
 * The requests of a run as a bash script of curl calls, in the order of the plan. Those that never
 * left are comments.
 */
export function curlReport(report: Report): string {
  const calls = report.devices.flatMap(({ device, error, steps }): CurlCall[] => [
    ...(error && steps.length === 0
      ? [{ title: `${device.name}: could not be read, nothing was sent`, device, owner: '' }]
      : []),
    ...steps.map(callOf),
  ]);
  const head = [
    `The requests of devsh run ${report.run} as curl calls`,
    report.command,
    `began ${report.beganAt} by ${report.by}; ${report.state}`,
  ];
  return curlScript(head, calls);
}

function callOf({ result, step, isSent }: StepReport): CurlCall {
  const { device, action, verdict } = result;
  const owner = recordName(result);
  const title = `${device.name}: ${action} ${owner}: ${verdict}`;
  if (step === undefined) return { title: `${title}, nothing was sent`, device, owner };
  const { request } = step;
  return isSent
    ? { title, device, owner, request }
    : { title: `${title}, not sent:`, device, owner, request, isComment: true };
}
