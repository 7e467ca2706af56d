// Node writes a CPU profile when the program exits, but not when a signal ends it.
process.once('SIGUSR2', () => process.exit());
