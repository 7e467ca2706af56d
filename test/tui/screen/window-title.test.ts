import { expect, test } from 'vitest';
import { windowTitle } from '../../../src/tui/run.ts';

function fleet(names: readonly string[], selected = names) {
  const devices = names.map(
    (name) => ({ name, address: '', kind: 'ready', error: undefined }) as const,
  );
  return { devices, selected };
}

test.each([
  [fleet([]), 'devsh'],
  [fleet(['fw1', 'fw2']), 'devsh: fw1, fw2'],
  [fleet(['fw1', 'fw2'], ['fw2']), 'devsh: fw2'],
  [fleet(['a', 'b', 'c', 'd']), 'devsh: 4 devices'],
  [fleet(['a\x07b']), 'devsh: a^Gb'],
])('the window of %j is called %s', (view, title) => {
  expect(windowTitle(view)).toBe(title);
});
