// Preloaded into a program: prints its peak of memory at its end.
process.on('exit', () => {
  require('node:fs').writeSync(2, `\npeak ${process.resourceUsage().maxRSS} KiB\n`);
});
