import type { Access } from '../fleet/access.ts';
import type { Member } from '../fleet/member.ts';
import type { DeviceRecord } from '../device/record.ts';
import { isSecretField } from '../device/secret-fields.ts';
import type { Allowed } from './allow.ts';
import type { ApplyDevice } from './apply.ts';
import { concernedSteps } from './concerned.ts';
import { guardStep } from './guard.ts';
import type { Plan, Step } from './plan.ts';

/** The devices of a fleet, by address, as a plan is carried out on them. */
export function applyDevices(
  access: Access,
  members: readonly Member[],
  plan: Plan,
  allowed: Allowed,
): Map<string, ApplyDevice> {
  return new Map(
    members.map((member) => [member.ref.address, applyDevice(access, member, plan, allowed)]),
  );
}

/** One device, as a plan is carried out on it. */
export function applyDevice(
  access: Access,
  member: Member,
  { devices }: Pick<Plan, 'devices'>,
  allowed: Allowed,
): ApplyDevice {
  const steps = devices
    .filter(({ device }) => device.address === member.ref.address)
    .flatMap((devicePlan) => devicePlan.steps);
  let takesOneConnection = false;
  const lookedAt = new Set<string>();
  return {
    // What is known of it grows while it is used.
    get profile() {
      return member.profile;
    },
    isReadOnly: member.entry.readOnly === true,
    list: async (resource) => {
      const listed = await member.list(access, resource);
      const own = steps.filter((step) => step.resource === resource);
      const concerned = (): readonly DeviceRecord[] => concernedSteps(member.profile, own, listed);
      if (!lookedAt.has(resource) && leavesOut(own, listed)) {
        const [example] = concerned();
        lookedAt.add(resource);
        if (example !== undefined) await member.learnSummary(access, resource, example);
      }
      return member.withDetails(access, resource, listed, concerned);
    },
    read: async (resource, record) => {
      const [own] = await member.use(access, (open) =>
        open.details(resource, [record], undefined, member.profile),
      );
      return own;
    },
    guard: (step, records) => {
      guardStep(member, step, records, allowed);
    },
    get takesOneConnection() {
      return takesOneConnection;
    },
    write: (request) =>
      member.use(access, async (open) => {
        try {
          return await open.write(request);
        } finally {
          takesOneConnection ||= open.takesOneConnection;
        }
      }),
  };
}

/** Whether none of the records shows a field that was written: an empty list could not tell that it has none. */
function leavesOut(steps: readonly Step[], records: readonly DeviceRecord[]): boolean {
  if (records.length === 0) return false;
  const asked = new Set(steps.flatMap((step) => Object.keys(step.asked)));
  return [...asked].some(
    (field) => !isSecretField(field) && !records.some((record) => Object.hasOwn(record, field)),
  );
}
