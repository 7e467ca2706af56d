import type { LogLine, State } from './state.ts';

/** So many messages are kept to be read again. */
const LOG_LIMIT = 2_000;

/** Puts lines behind the others; those in `dropped` go, wherever they stand. */
export function appended(
  log: State['log'],
  dropped: readonly LogLine[],
  lines: readonly LogLine[],
): State['log'] {
  const keep = (old: State['log']['current']): State['log']['current'] =>
    dropped.length === 0 ? old : old.filter((line) => !dropped.includes(line));
  return {
    current: [...keep(log.current), ...lines],
    all: [...keep(log.all), ...lines].slice(-LOG_LIMIT),
  };
}
