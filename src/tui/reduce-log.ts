import type { LogLine, State } from './state.ts';

/** So many messages are kept to be read again. */
const LOG_LIMIT = 2_000;

/** Puts lines behind the others, in place of the last ones where `dropped` says so. */
export function appended(
  log: State['log'],
  dropped: number,
  lines: readonly LogLine[],
): State['log'] {
  const keep = (old: State['log']['current']): State['log']['current'] =>
    dropped === 0 ? old : old.slice(0, Math.max(0, old.length - dropped));
  return {
    current: [...keep(log.current), ...lines],
    all: [...keep(log.all), ...lines].slice(-LOG_LIMIT),
  };
}
