// Loaded before a program: says at its end how much memory it held at most.
process.on('exit', () => {
  require('node:fs').writeSync(2, `\npeak ${process.resourceUsage().maxRSS} KiB\n`);
});
