import { expect, test } from 'vitest';
import type { StepResult } from '../../../src/change/verdict.ts';
import { foldResults } from '../../../src/tui/views/plan-lines.ts';

function noEffect(name: string): StepResult {
  return {
    device: { name, address: `${name}.example:443` },
    ...{ resource: 'user', key: 'bob', action: 'set', verdict: 'no effect' },
    note: `nothing changed; "profile set ${name} update=put" states another way`,
  };
}

test('results whose reasons differ only in the name of their device are one line', () => {
  const names = Array.from({ length: 20 }, (_, index) => `fw${index + 1}`);
  expect(foldResults(names.map(noEffect)).map(({ text }) => text)).toEqual([
    '✗ set user bob: no effect on fw1, fw2, fw3 and 17 more - ' +
      'nothing changed; "profile set DEVICE update=put" states another way',
  ]);
});

test('the reason of one device keeps its name, so that its command can be copied', () => {
  expect(foldResults([noEffect('fw1')])[0]?.text).toContain('"profile set fw1 update=put"');
});
