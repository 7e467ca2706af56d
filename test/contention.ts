/** Starts to count the computing time of this process: unlike the time, that of others is not in it. Returns ms. */
export function countComputing(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
}

/**
 * How many times longer something takes here now than on a machine of its own, because others compute as
 * well: at least 1. For a limit of what waits for other programs.
 */
export function contention(): number {
  const startedAt = performance.now();
  const computedMs = countComputing();
  while (computedMs() < 50);
  return Math.max(1, (performance.now() - startedAt) / computedMs());
}
