import { UsageError } from '../errors.ts';

/** The documented API knows only POST, other dialects all of them. */
const CHANGES = ['POST', 'PUT', 'PATCH'];

/**
 * What a device can do wrong. `stage` says where it strikes: the connection itself, instead of the
 * view (nothing is carried out), in what a write does, or in how the answer goes out (after a write
 * has been carried out). `methods` limits it to requests for which it means something.
 */
export const FAULTS = [
  fault('refuse', 'connection', 'Connections are refused: nothing listens on the port.'),
  fault('certificate-change', 'connection', 'Another certificate is presented from now on.'),
  fault('silence', 'request', 'Requests are taken and never answered.'),
  fault('reset', 'request', 'The connection is reset instead of an answer.'),
  fault('html-page', 'request', 'A login page in HTML comes back with status 200.'),
  fault('empty-200', 'request', 'The answer is 200 with an empty body, and nothing is done.'),
  fault('401', 'request', 'Every credential is refused.'),
  fault('403', 'request', 'The account has no right to anything.'),
  fault('429', 'request', 'Too many requests; retry after one second.'),
  fault('500-once', 'request', 'One request fails with 500, the next ones are served.'),
  fault(
    'accept-and-forget',
    'write',
    'A POST, PUT or PATCH is accepted, but nothing is stored.',
    CHANGES,
  ),
  fault(
    'store-altered',
    'write',
    'A POST, PUT or PATCH stores another lang than it answers.',
    CHANGES,
  ),
  fault('delete-and-keep', 'write', 'A DELETE is accepted (204), but the user stays.', ['DELETE']),
  fault('store-and-drop', 'answer', 'A write is carried out, then the connection dies.', [
    ...CHANGES,
    'DELETE',
  ]),
  fault('slow-body', 'answer', 'The body comes byte by byte, four in a second.'),
  fault('truncated-body', 'answer', 'The connection ends in the middle of the body.'),
  fault('invalid-json', 'answer', 'The body is JSON that was cut in the middle.'),
  fault('endless-body', 'answer', 'The body never ends.'),
] as const;

export type FaultStage = 'connection' | 'request' | 'write' | 'answer';
export type Fault = (typeof FAULTS)[number];
export type FaultName = Fault['name'];

function fault<Name extends string, Stage extends FaultStage>(
  name: Name,
  stage: Stage,
  summary: string,
  methods?: readonly string[],
) {
  return { name, stage, summary, methods };
}

/** `DEVICE:NAME` of `--fault`, taken apart. */
export interface FaultOption {
  /** Name (`sim2`) or address, as typed; it may contain colons itself. */
  readonly device: string;
  readonly fault: FaultName;
}

/** @throws UsageError when the text has no device or names no fault; it lists the faults. */
export function parseFaultOption(text: string): FaultOption {
  const colon = text.lastIndexOf(':');
  const device = text.slice(0, Math.max(0, colon));
  const name = text.slice(colon + 1);
  const known = FAULTS.find((candidate) => candidate.name === name);
  const list = `Faults: ${FAULTS.map((candidate) => candidate.name).join(', ')}.`;
  if (device === '') {
    throw new UsageError(
      `--fault wants DEVICE:NAME (such as sim2:silence), not '${text}'. ${list}`,
    );
  }
  if (known === undefined) {
    throw new UsageError(`There is no fault '${name}'. ${list}`, {
      column: colon + 1,
      suggestions: closest(
        name,
        FAULTS.map((candidate) => candidate.name),
      ),
    });
  }
  return { device, fault: known.name };
}

/** The candidates that share most of the word's letter pairs, best first, at most three. */
function closest(word: string, candidates: readonly string[]): string[] {
  const pairs = (text: string): string[] =>
    Array.from({ length: text.length + 1 }, (_, index) => ` ${text} `.slice(index, index + 2));
  const wanted = pairs(word.toLowerCase());
  return candidates
    .map((name) => {
      const own = pairs(name);
      const common = own.filter((pair) => wanted.includes(pair)).length;
      return { name, score: (2 * common) / (own.length + wanted.length) };
    })
    .filter(({ score }) => score >= 0.35)
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map(({ name }) => name);
}
