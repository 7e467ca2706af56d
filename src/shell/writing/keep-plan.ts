import type { Change } from '../../change/change.ts';
import { freezePlan } from '../../change/plan-file.ts';
import type { Plan } from '../../change/plan.ts';
import type { Call } from '../call.ts';
import { message, type MessageOutput } from '../output.ts';

const DEFAULT_EXPIRY_MS = 24 * 3_600_000;

/** Writes a plan down, to be applied later as it is; resolves to what is to be said of it. */
export async function keepPlan(
  call: Call<'expiresMs'>,
  plan: Plan,
  file: string,
  changes: readonly Change[],
): Promise<MessageOutput> {
  const { services } = call.session;
  const { expiresMs = DEFAULT_EXPIRY_MS } = call.options;
  const createdAt = services.now();
  const text = freezePlan({
    plan,
    createdAt: createdAt.toISOString(),
    expiresAt: new Date(createdAt.getTime() + expiresMs).toISOString(),
    command: call.line,
    changes,
  });
  await services.writeFile(file, text);
  return message('done', `wrote the plan to ${file}`);
}
