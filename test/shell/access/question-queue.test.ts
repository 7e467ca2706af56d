import { expect, test } from 'vitest';
import { joinedQuestions } from '../../../src/shell/access/access.ts';

test('what several bring at about the same time is one question', async () => {
  const asked: (readonly string[])[] = [];
  const ask = joinedQuestions<string, string>((concerns) => {
    asked.push(concerns);
    return Promise.resolve('yes');
  });
  expect(await Promise.all(['a', 'b', 'c'].map((concern) => ask(concern)))).toEqual([
    'yes',
    'yes',
    'yes',
  ]);
  expect(asked).toEqual([['a', 'b', 'c']]);
});

test('one question is open at a time, and whoever comes meanwhile is asked about next', async () => {
  let isOpen = false;
  const asked: (readonly string[])[] = [];
  const answers: (() => void)[] = [];
  const ask = joinedQuestions<string, number>(async (concerns) => {
    expect(isOpen).toBe(false);
    isOpen = true;
    asked.push(concerns);
    await new Promise<void>((resolve) => answers.push(resolve));
    isOpen = false;
    return asked.length;
  });
  const first = ask('a');
  await expect.poll(() => answers.length).toBe(1);
  const second = ask('b');
  answers[0]?.();
  expect(await first).toBe(1);
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.();
  expect(await second).toBe(2);
  expect(asked).toEqual([['a'], ['b']]);
});

test('a question that fails does not spoil the next one', async () => {
  let count = 0;
  const ask = joinedQuestions<string, string>(() => {
    count += 1;
    return count === 1 ? Promise.reject(new Error('cancelled')) : Promise.resolve('yes');
  });
  await expect(ask('a')).rejects.toThrow('cancelled');
  expect(await ask('b')).toBe('yes');
});
