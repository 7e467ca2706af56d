import { DevshError } from '../errors.ts';
import type { Device } from './device.ts';
import { UntrustedError } from './errors.ts';
import type { Answer } from './exchange.ts';
import { JsonFailure, parseJson } from './json.ts';
import type { ListAnswers } from './learned-schema.ts';
import { listPath, type Origin, type Profile } from './profile.ts';

type Spelling = NonNullable<ListAnswers['withSlash']>;

/** Asks for a list with a slash at the end, without it, and in no certain format. Follows no redirect. */
export async function lookAtAnswers(
  device: Device,
  resource: string,
  signal?: AbortSignal,
): Promise<ListAnswers> {
  const path = listPath(device.profile, resource);
  // A path with a query, or the root, has one spelling only.
  if (!/^\/[^?#]*[^?#/]\/?$/.test(path)) return {};
  const bare = path.replace(/\/$/, '');
  const withSlash = spellingOf(await get(device, `${bare}/`, signal));
  const withoutSlash = spellingOf(await get(device, bare, signal));
  const open = withSlash === 'answers' ? `${bare}/` : bare;
  const withoutAccept = formatOf(await get(device, open, signal, '*/*'));
  return {
    ...(withSlash && { withSlash }),
    ...(withoutSlash && { withoutSlash }),
    ...(withoutAccept && { withoutAccept }),
  };
}

/** A profile with what was seen put in: paths end as the device answers them, unless the user said how. */
export function withAnswers(profile: Profile, answers: ListAnswers): Profile {
  const { withSlash, withoutSlash } = answers;
  const isOnly = (one: Spelling | undefined, other: Spelling | undefined): boolean =>
    one === 'answers' && other !== undefined && other !== 'answers';
  const isDecided = isOnly(withSlash, withoutSlash) || isOnly(withoutSlash, withSlash);
  if (!isDecided || profile.origins['endsWithSlash'] === 'configured')
    return { ...profile, answers };
  const origins: Profile['origins'] = {
    ...profile.origins,
    endsWithSlash: 'observed' satisfies Origin,
  };
  return { ...profile, answers, endsWithSlash: withSlash === 'answers', origins };
}

/**
 * Whether the device only did not say what it was asked, which is a fact less. False for a certificate
 * that is not its own: whoever is there is not to be asked on.
 */
export function isNoAnswer(error: unknown): boolean {
  if (!(error instanceof DevshError) || error instanceof UntrustedError) return false;
  return error.code !== 'cancelled';
}

async function get(
  device: Device,
  path: string,
  signal: AbortSignal | undefined,
  accept?: string,
): Promise<Answer | undefined> {
  try {
    const request = { method: 'GET', path, redirect: 'stay', ...(accept && { accept }) } as const;
    return await device.raw(request, signal);
  } catch (error) {
    if (!isNoAnswer(error)) throw error;
    return undefined;
  }
}

/** Undefined for an answer that says nothing of the path, as one to too many requests. */
function spellingOf(answer: Answer | undefined): Spelling | undefined {
  if (answer === undefined) return undefined;
  const { status } = answer;
  if (status >= 200 && status < 300) return 'answers';
  if ([301, 302, 303, 307, 308].includes(status)) return 'redirects';
  return status === 404 ? 'not found' : undefined;
}

function formatOf(answer: Answer | undefined): ListAnswers['withoutAccept'] {
  if (answer?.status === 406) return 'refused';
  if (answer === undefined || answer.status < 200 || answer.status >= 300) return undefined;
  if (/^\s*</.test(answer.body)) return 'HTML';
  try {
    parseJson(answer.body);
    return 'JSON';
  } catch (error) {
    if (!(error instanceof JsonFailure)) throw error;
    return 'text';
  }
}
