import { recordName } from '../change/record-name.ts';
import type { Plan } from '../change/plan.ts';
import { curlScript, type CurlCall } from '../change/report/curl-script.ts';
import type { Member } from '../fleet/member.ts';
import type { Call } from './call.ts';
import type { TextOutput } from './output.ts';

/** The same request to each device, as curl calls. */
export function requestAsCurl(
  call: Call,
  members: readonly Member[],
  request: NonNullable<CurlCall['request']>,
): TextOutput {
  return script(
    call,
    members.map((member) => {
      const title = `${member.ref.name}: ${request.method} ${request.path}`;
      return { title, device: member.ref, owner: request.path, request };
    }),
    members,
  );
}

/** The requests of a plan as curl calls. */
export function planAsCurl(call: Call, { devices }: Plan, members: readonly Member[]): TextOutput {
  const calls = devices.flatMap(({ device, steps, settled, error }): CurlCall[] => [
    ...(error === undefined
      ? []
      : [{ title: `${device.name}: cannot be planned: ${error.message}`, device, owner: '' }]),
    ...settled.map((result) => ({
      title: `${device.name}: ${result.action} ${recordName(result)}: ${result.verdict}, nothing to send`,
      device,
      owner: '',
    })),
    ...steps.map((step) => ({
      title: `${device.name}: ${step.action} ${recordName(step)}`,
      device,
      owner: recordName(step),
      request: step.request,
    })),
  ]);
  return script(call, calls, members);
}

function script(call: Call, calls: readonly CurlCall[], members: readonly Member[]): TextOutput {
  const routes = new Map(
    members.map(({ ref, entry }) => [ref.address, call.access.route(entry)] as const),
  );
  const routed = calls.map((one) => ({ ...one, route: routes.get(one.device.address) }));
  return { kind: 'text', name: 'curl', text: curlScript([call.line], routed) };
}
