/**
 * How many times longer something takes here now than on a machine of its own, because others compute as
 * well: at least 1. For a limit in time that stands for a promise and not for the speed of the machine.
 */
export function contention(): number {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  let computedMs = 0;
  while (computedMs < 50) {
    const { user, system } = process.cpuUsage(before);
    computedMs = (user + system) / 1000;
  }
  return Math.max(1, (performance.now() - startedAt) / computedMs);
}
