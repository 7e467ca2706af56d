// A list with its state outside React, drawn by Ink: arrows move, `x` breaks a component, `q` leaves.
import { useSyncExternalStore } from 'react';
import { Text } from 'ink';
import { matchesKey } from '../../../../src/tui/terminal/keys.ts';
import { mountInk } from '../../../../src/tui/terminal/render.ts';
import { Terminal } from '../../../../src/tui/terminal/terminal.ts';

const names = ['alice', '田中', 'böb', 'eve 👩‍💻'];
const listeners = new Set<() => void>();
let selected = 0;
let isBroken = false;

function select(row: number): void {
  selected = row;
  for (const listener of listeners) listener();
}

function List() {
  const current = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => selected,
  );
  if (isBroken) throw new Error('component broken on purpose');
  return Array.from({ length: 20 }, (_, row) => {
    const text = `${row === current ? '>' : ' '} row ${row} ${names[row % names.length] ?? ''}`;
    return (
      <Text key={row} inverse={row === current} wrap="truncate-end">
        {text}
      </Text>
    );
  });
}

const terminal = new Terminal(process.stdin, process.stdout, process.env, process);
terminal.enter();
const mounted = mountInk(<List />, terminal, {
  cursor: () => ({ row: selected, column: 2 }),
});
terminal.onKey((event) => {
  if (matchesKey(event, 'down')) select(selected + 1);
  if (matchesKey(event, 'up')) select(selected - 1);
  if (matchesKey(event, 'x')) {
    isBroken = true;
    select(selected + 1);
  }
  if (matchesKey(event, 'q')) {
    mounted.unmount();
    terminal.restore();
  }
});
