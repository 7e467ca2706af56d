// A full-screen program that shows the keys it gets; letters make it end in many ways.
import { spawn } from 'node:child_process';
import { keyLabel } from '../../../../src/tui/terminal/keys.ts';
import { Terminal } from '../../../../src/tui/terminal/terminal.ts';

const terminal = new Terminal(process.stdin, process.stdout, process.env, process);
const seen: string[] = [];

function draw(): void {
  const { columns, rows } = terminal.size;
  const frame = ['ready', `${columns}x${rows}`, `keys: ${seen.slice(-10).join(' ')}`].join('\n');
  terminal.paint(frame, { row: 0, column: 5 });
}

const actions: Readonly<Record<string, () => void>> = {
  q: () => {
    terminal.restore();
    terminal.restore();
    console.log('left as asked');
  },
  x: () => {
    throw new Error('broken \x1b[2J on purpose');
  },
  r: () => {
    void Promise.reject(new Error('rejected on purpose'));
  },
  e: () => process.exit(3),
  'ctrl-z': () => {
    terminal.suspend();
  },
  o: () => {
    void terminal
      .runOutside(
        () =>
          new Promise((resolve) => {
            const script = 'echo outside; read answer; echo "got $answer"';
            spawn('sh', ['-c', script], { stdio: 'inherit' }).on('close', resolve);
          }),
      )
      .then((status) => {
        seen.push(`back:${String(status)}`);
        draw();
      });
  },
};

terminal.onKey((event) => {
  const label = event.kind === 'paste' ? JSON.stringify(event.text) : keyLabel(event);
  seen.push(label);
  draw();
  actions[label]?.();
});
terminal.onResize(draw);
console.log('before');
terminal.enter();
terminal.setTitle('devsh \x07test');
draw();
