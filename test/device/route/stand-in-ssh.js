// What `ssh -W host:port … HOST` does, without ssh: pipes standard input and output to the address.
import { connect } from 'node:net';

const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(process.argv[process.argv.indexOf('-W') + 1]);
const socket = connect(Number(port), host);
process.stdin.pipe(socket);
socket.pipe(process.stdout);
socket.on('error', (error) => {
  process.stderr.write(`channel 0: open failed: ${error.message}\n`);
  process.exit(255);
});
