import { type Plan, recordName } from '../../change/plan.ts';
import { curlScript, type CurlCall } from '../../change/report/curl.ts';
import type { Profile } from '../../device/profile.ts';
import type { Member } from '../../fleet/member.ts';
import type { Call } from '../call.ts';
import type { TextOutput } from '../output.ts';

type Request = NonNullable<CurlCall['request']>;

/** One request to each device, in the words that it understands, as curl calls. */
export async function requestAsCurl(
  call: Call,
  members: readonly Member[],
  requestFor: (profile: Profile) => Request,
): Promise<TextOutput> {
  const calls = members.map(async ({ ref, entry }): Promise<CurlCall> => {
    const request = requestFor(await call.access.profile(entry));
    const title = `${ref.name}: ${request.method} ${request.path}`;
    return { title, device: ref, owner: request.path, request };
  });
  return script(call, await Promise.all(calls), members);
}

/** The requests of a plan as curl calls. */
export function planAsCurl(
  call: Call,
  { devices }: Plan,
  members: readonly Member[],
): Promise<TextOutput> {
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

async function script(
  call: Call,
  calls: readonly CurlCall[],
  members: readonly Member[],
): Promise<TextOutput> {
  const byAddress = new Map(members.map(({ ref, entry }) => [ref.address, entry]));
  const addressed = calls.map(async (one): Promise<CurlCall> => {
    const entry = byAddress.get(one.device.address);
    if (entry === undefined) return one;
    const { accept } = await call.access.profile(entry);
    return { ...one, route: call.access.route(entry), accept };
  });
  return {
    kind: 'text',
    name: 'curl',
    text: curlScript([call.line], await Promise.all(addressed)),
  };
}
