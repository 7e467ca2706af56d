import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startFleet } from './devsh.ts';

const RealDate = Date;

/** The clock of this machine, some minutes off. */
function setClock(minutes: number): void {
  const off = minutes * 60_000;
  globalThis.Date = class extends RealDate {
    constructor(...given: readonly unknown[]) {
      if (given.length === 0) super(RealDate.now() + off);
      else super(...(given as [number]));
    }

    static override now(): number {
      return RealDate.now() + off;
    }
  } as DateConstructor;
}

async function startWithClock() {
  onTestFinished(() => {
    globalThis.Date = RealDate;
  });
  const fleet = await startFleet();
  const json = async <Said>(line: string): Promise<Said> =>
    JSON.parse((await fleet.devsh(`${line} --json`)).stdout) as Said;
  const authors = async (): Promise<(string | null)[]> => {
    const { changes } = await json<{ changes: { author: string | null }[] }>('changes --since 1d');
    return changes.map(({ author }) => author);
  };
  return { ...fleet, json, authors };
}

test.each([1, 90])('runs keep their order when the clock goes back by %i min', async (minutes) => {
  const { devsh, json } = await startWithClock();
  setClock(minutes);
  const write = (lang: string) =>
    json<{ run: string }>(`user set viewer lang=${lang} --on sim1 --yes`);
  const first = await write('fr');
  setClock(0);
  const second = await write('it');
  expect(first.run < second.run).toBe(true);
  await devsh('undo --yes');
  const held = await json<object>('user show viewer --on sim1');
  expect(JSON.stringify(held)).toContain('"lang":"fr"');
  const plan = await devsh('user set viewer lang=it --on sim1 --yes');
  const said = plan.stderr.match(/the clock is .* behind the last run: .*/g) ?? [];
  expect(said).toHaveLength(minutes > 1 ? 1 : 0);
  if (minutes > 1) expect(said[0]).toMatch(/the clock is 1 h (?:29|30) min behind the last run/);
});

test.each([-1, -90])('a clock set by %i min loses no reading and no author', async (minutes) => {
  const { devsh, device, authors } = await startWithClock();
  await devsh('user list --on sim1');
  await devsh('user set viewer lang=fr --on sim1 --yes');
  setClock(minutes);
  const read = await devsh('user list --on sim1');
  expect(read.stderr).toMatch(/the clock is .* behind the last reading: runs and readings keep/);
  expect((await devsh('user list --on sim1')).stderr).not.toContain('the clock is');
  const write = await devsh('user set viewer lang=it --on sim1 --yes');
  expect(write.stderr).not.toContain('behind the last reading');
  expect(await authors()).toEqual(['run', 'run']);
  device(1).putUser({ username: 'viewer', lang: 'es' });
  await devsh('user list --on sim1');
  expect(await authors()).toEqual(['other', 'run', 'run']);
  const { stdout } = await devsh('user list --on sim1 username=viewer --at 0s');
  expect(stdout).toContain('es');
});

test('a change of another that lies across a step of the clock is not of an older run', async () => {
  const { devsh, device, authors } = await startWithClock();
  await devsh('user set viewer lang=fr --on sim1 --yes');
  setClock(90);
  await devsh('user list --on sim1');
  device(1).putUser({ username: 'viewer', lang: 'de' });
  setClock(10);
  await devsh('user list --on sim1');
  await devsh('user set viewer lang=fr --on sim1 --yes');
  expect(await authors()).toEqual(['run', 'perhaps', 'run']);
});

test('a run whose journal was written to after the clock was set back is named', async () => {
  const { devsh, authors } = await startWithClock();
  await devsh('user list --on sim1');
  await devsh('user set viewer lang=fr --on sim1 --yes');
  const folder = join(devsh.folder, 'state/devsh/runs');
  const [journal = ''] = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'));
  const hourAgo = Date.now() / 1000 - 3_600;
  await utimes(join(folder, journal), hourAgo, hourAgo);
  expect(await authors()).toEqual(['run']);
});

test.each([1, 90])('a report has the runs of a clock that was %i min ahead', async (minutes) => {
  const { devsh, json } = await startWithClock();
  await devsh('user set viewer lang=it --on sim1 --yes');
  setClock(minutes);
  await devsh('user set viewer lang=fr --on sim1 --yes');
  setClock(0);
  const { report } = await json<{ report: { runs: unknown[] } }>('report --since 1h');
  expect(report.runs).toHaveLength(2);
});
