// Removes what a bench has started and made, however it ends.
const works = new Set();

/**
 * Runs `work` when the bench ends, or when the returned function is called.
 *
 * @param work synchronous: a signal leaves no time to wait
 */
export function whenEnding(work) {
  works.add(work);
  return () => {
    if (works.delete(work)) work();
  };
}

process.on('exit', () => {
  for (const work of works) {
    try {
      work();
    } catch (error) {
      console.error(error);
    }
  }
});
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
