import { setTimeout } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { answer, connect, goToTable, shared, simulate, startOver } from './devsh.ts';

test('a user is added with completion, read back, and is in the table', async () => {
  const simulator = await simulate({ devices: 2 });
  const program = await connect(simulator);
  program.type('user ad');
  program.press('tab');
  await program.waitFor('user add ');
  program.type('usern');
  program.press('tab');
  await program.waitFor('username=');
  program.type('carol fi');
  program.press('tab');
  await program.waitFor('first_name=');
  program.type('Carol lastname=Clark la');
  program.press('tab');
  await program.waitFor(/Clark lang=$/m);
  program.type('en\r');
  await program.waitFor('2 to add');
  await program.waitFor('Type 2 to do them');
  await answer(program, '2');
  await program.waitFor(/✓ carol {2}added {2}127\.0\.0\.2\S* 127\.0\.0\.3/);
  await program.waitFor(/carol +Carol +Clark +en +all/);

  for (const { users } of simulator.devices) {
    expect(users).toContainEqual(expect.objectContaining({ username: 'carol', lang: 'en' }));
  }
  program.press('ctrl-d');
  expect(await program.exit).toEqual({ code: 0, signal: 0 });
  expect(program.buffer).toBe('normal');
  expect(program.screen().join('\n')).toContain('In this session: 2 done');
});

describe('two devices', () => {
  const session = shared(
    async () => {
      const simulator = await simulate({ devices: 2 });
      return { simulator, program: await connect(simulator) };
    },
    ({ program }) => startOver(program),
  );

  test('u takes the last run back, with its plan shown and asked for', async () => {
    const { simulator, program } = session();
    program.type('user set viewer lang=de\r');
    await program.waitFor('lang: en -> de');
    await answer(program, '2');
    await program.waitFor('✓ viewer  lang');
    await goToTable(program);
    program.press('u');
    await program.waitFor('lang: de -> en');
    await program.waitFor(
      /undoes run \S+, began (?:yesterday )?\d\d:\d\d UTC\S*: user set viewer\s+lang=de/,
    );
    expect(program.screen().join('\n')).toMatch(/~ set user viewer +127\.0\.0\.2/);
    await program.waitFor('answer>');
    program.press('tab');
    await program.waitFor(/~ set user viewer +127\.0\.0\.3\S* +lang: de -> en/);
    await answer(program, '2');
    await program.waitFor(
      /› undo\n undoes run \S+, began (?:yesterday )?\d\d:\d\d UTC\S*: user set viewer\s+lang=de[^✓]*✓ viewer {2}lang de → en {2}127\S+ 127/,
    );
    expect(simulator.devices[1]?.users).toContainEqual(
      expect.objectContaining({ username: 'viewer', lang: 'en' }),
    );
  });

  test('marked records on different devices are deleted by one plan, a command for each set of devices', async () => {
    const { simulator, program } = session();
    simulator.devices[0]?.putUser({ username: 'aa.one', lang: 'en' });
    simulator.devices[1]?.putUser({ username: 'aa.two', lang: 'en' });
    await goToTable(program);
    program.press('r');
    await program.waitFor(/ aa\.two /);
    program.type('/aa.\r');
    await program.waitFor(/\(2 of 13 rows\)/);
    program.press('*');
    await program.waitFor('[2 marked]');
    program.press('d');
    await program.waitFor(/- delete user aa.one +127\.0\.0\.2/);
    await program.waitFor(/- delete user aa.two +127\.0\.0\.3/);
    await program.waitFor('2 steps on 2 devices. Type 2 to DELETE:');
    await answer(program, '2');
    await program.waitFor('no record matches the filter');
    expect(simulator.devices[1]?.users.some(({ username }) => username === 'aa.two')).toBe(false);
  });

  test('deleting asks with the plan; a wrong answer does nothing, the right one deletes', async () => {
    const { simulator, program } = session();
    const names = () => simulator.devices.map(({ users }) => users.map(({ username }) => username));
    await goToTable(program);
    program.type('/viewer\r');
    await program.waitFor(/filter: viewer \(1 of \d+ rows\)/);
    program.press('d');
    await program.waitFor('2 to delete');
    await program.waitFor('undo cannot restore');
    await answer(program, 'y');
    await program.waitFor('that is not 2: type 2 and Enter');
    expect(names().every((users) => users.includes('viewer'))).toBe(true);
    program.press('escape');
    await program.waitFor('you did not confirm: nothing was sent');
    expect(names().every((users) => users.includes('viewer'))).toBe(true);

    program.press('d');
    await program.waitFor('Type 2 to DELETE');
    await answer(program, '2');
    await program.waitFor(/✓ viewer {2}deleted {2}127\.0\.0\.2\S* 127/);
    expect(names().some((users) => users.includes('viewer'))).toBe(false);
    await program.waitFor('no record matches the filter');
  });
});

describe('one device', () => {
  const session = shared(
    async () => {
      const simulator = await simulate();
      return { simulator, program: await connect(simulator) };
    },
    ({ program }) => startOver(program),
  );

  test('three pasted lines wait for Enter and a yes, then run one after the other', async () => {
    const { simulator, program } = session();
    const posts = (): number | undefined =>
      simulator.devices[0]?.log.filter(({ method }) => method === 'POST').length;
    const add = (name: string) => `user add username=${name} first_name=A lastname=B lang=en --yes`;
    program.paste(`${add('p1')}\n${add('p2')}\n${add('p3')}\n`);
    await program.waitFor('⏎');
    expect(posts()).toBe(0);
    program.press('enter');
    await program.waitFor('Run these 3 lines');
    expect(posts()).toBe(0);
    // Nothing was proposed for the end of a paste, so that Enter could not mean two things.
    expect(program.raw()).not.toContain('enter take');
    await answer(program, 'y');
    await program.waitFor('11 records');
    expect(simulator.devices[0]?.users.map(({ username }) => username)).toEqual(
      expect.arrayContaining(['p1', 'p2', 'p3']),
    );
  });

  test('what is wrong with a line is pointed at, and the line stays to be corrected', async () => {
    const { program } = session();
    // Ctrl-C would cancel the running line.
    await program.waitFor((lines) => !lines.join('\n').includes('Ctrl-C cancels'));
    program.type('user lisst bob\r');
    await program.waitFor(/did you mean 'user list bob'/);
    const screen = program.screen();
    const row = screen.findIndex((line) => line.includes('user lisst bob'));
    expect(screen[row + 1]?.indexOf('^')).toBe(screen[row]?.indexOf('lisst'));
    program.press('ctrl-c');
    await program.waitFor((lines) => !lines.join('\n').includes('lisst'));
  });

  test('what is typed before a question can have been read does not answer it', async () => {
    const { simulator, program } = session();
    program.type('user delete viewer\r');
    for (let keys = 0; keys < 40; keys++) {
      program.type('y\r');
      if (program.screen().join('\n').includes('delete user viewer on')) break;
      await setTimeout(20); // as fast as a key repeats
    }
    program.type('y\r');
    await program.waitFor('answer>');
    expect(simulator.devices[0]?.users.some(({ username }) => username === 'viewer')).toBe(true);
    expect(program.screen().join('\n')).toContain('Type y to do it');
    await answer(program, 'y');
    await program.waitFor('✓ viewer  deleted');
  });
});

test('a yes that was typed before the question opened answers nothing, and stays in the line', async () => {
  const simulator = await simulate({ latencyMs: 400 });
  const program = await connect(simulator);
  const [device] = simulator.devices;
  const before = device?.log.length ?? 0;
  program.type('user delete viewer\r');
  await vi.waitUntil(() => (device?.log.length ?? 0) > before, 10_000);
  program.type('y');
  // Typed while the question opens.
  await program.waitFor('to delete');
  program.type('y\r');
  await program.waitFor('answer>');
  program.press('escape');
  await program.waitFor(/devsh [^>]*> yy/);
  expect(device?.users.map(({ username }) => username)).toContain('viewer');
});
