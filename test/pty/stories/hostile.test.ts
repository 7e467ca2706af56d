import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { expect, test } from 'vitest';
import type { SimulatedDevice } from '../../simulator/simulator.ts';
import { serve } from '../../device/server.ts';
import { ADMIN, answer, connect, goToTable, simulate, startDevsh } from '../devsh.ts';
import type { PtyProgram } from '../harness.ts';

/** The column of a text in the first line that has it. */
function columnOf(program: PtyProgram, text: string): number {
  const row = program.screen().findIndex((line) => line.includes(text));
  const [first = ''] = text;
  for (let column = 0; row !== -1 && column < 120; column += 1) {
    const cells = Array.from(text, (_, at) => program.cellStyle(row, column + at)?.text ?? '');
    if (cells[0] === first && cells.join('') === text) return column;
  }
  return -1;
}

test('keys that are drawn alike are told apart, and no emoji moves a column', async () => {
  const names = ['zoe', 'zoe ', 'josé', 'jose\u0301', 'zo\u00a0e'];
  const emoji = ['👨‍👩‍👧‍👦', '❤️', '👍🏽', '🇩🇪', 'plain'];
  const users = names.map((username, at) => ({ username, _id: emoji[at], note: `note${at}` }));
  const { port } = await serve((asked, response) => {
    response.setHeader('content-type', 'application/json');
    response.writeHead(asked.url === '/api/user/' ? 200 : 404).end(JSON.stringify(users));
  });
  const args = ['connect', `127.0.0.1:${port}`, '--insecure'];
  const program = await startDevsh(args, { cols: 120, rows: 35, env: ADMIN });
  await program.waitFor('connected to');
  await goToTable(program);
  for (const shown of [/ zoe /, / 'zoe ' /, / josé /, / jose<U\+0301> /, / zo<U\+00A0>e /]) {
    await program.waitFor(shown);
  }
  const header = columnOf(program, 'NOTE');
  expect(header).toBeGreaterThan(0);
  expect(names.map((_, at) => columnOf(program, `note${at}`))).toEqual(names.map(() => header));
  expect(columnOf(program, 'plain')).toBe(columnOf(program, '_ID'));
  program.type(':user show jo');
  program.press('tab');
  await program.waitFor(/^ *jose<U\+0301> /m);
});

/** Adds a user as another client would. */
async function addUser(
  { address, accounts: { admin } }: SimulatedDevice,
  user: Readonly<Record<string, string>>,
): Promise<void> {
  const post = request(`https://${address}/api/user/`, {
    method: 'POST',
    rejectUnauthorized: false,
    auth: `${admin.username}:${admin.password}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  post.end(new URLSearchParams({ uuid: 'null', ...user }).toString());
  const [response] = (await once(post, 'response')) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(201);
}

test('what nobody can type survives an edit, and a terminal that answers in 8 bits types nothing', async () => {
  const simulator = await simulate({ users: 2 });
  const [device] = simulator.devices;
  if (device === undefined) throw new Error('no device');
  const rest = { username: 'bell', lastname: 'Ringer', lang: 'de' };
  await addUser(device, { ...rest, first_name: 'Be\x07ll\te' });
  const program = await connect(simulator, { cols: 120 });
  await goToTable(program);
  await program.waitFor(/bell +Be\^Gll\^Ie +Ringer/);
  program.type('/bell\re');
  await program.waitFor(/▸ +First name +\[Be\^Gll\^Ie/i);
  program.type('X\u009b?62;4cY');
  await program.waitFor(/user set bell first_name='Be\^Gll\^IeXY'/);
  program.press('ctrl-s');
  await answer(program, 'y');
  await program.waitFor(/✓ bell {2}/);
  const stored = device.users.find(({ username }) => username === 'bell');
  expect(stored?.first_name).toBe('Be\x07ll\teXY');
});
