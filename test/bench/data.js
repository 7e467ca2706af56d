// Work on 100,000 records, compared with functions of Node and with jq.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { bundleParts } from './parts.js';
import { startStaticDevice } from './fleet.js';
import { has, run } from './rounds.js';

export async function dataRows(bench) {
  const { report, records: count, folder, built, profiles } = bench;
  const names = {
    parse: `parse ${count} records`,
    sort: `sort ${count} records`,
    few: `read, filter, sort and print ${count} records, few left`,
    most: `read, filter, sort and print ${count} records, most left`,
  };
  if (!report.wants(...Object.values(names))) return;
  const { createFleetData } = await bundleParts(built);
  const { users } = createFleetData(1, 1, count)(0);
  const text = JSON.stringify(users);
  const file = join(folder, 'users.json');
  writeFileSync(file, text);

  // Each build once: a module is compiled and warmed up as long as it is the same one.
  const modules = new Map();
  const bundled = (build) => {
    if (!modules.has(build)) modules.set(build, bundleParts(build));
    return modules.get(build);
  };
  const measured = (work) => (profiles ? profiles.during(work) : work());

  await report.compare(names.parse, {
    kind: 'ratio',
    goal: 1.3,
    against: 'JSON.parse',
    own: async (build) => {
      const { decodeList } = await bundled(build);
      return measured(timed(() => decodeList(text, 'user')));
    },
    other: timed(() => JSON.parse(text)),
    rounds: 21,
  });
  const collator = new Intl.Collator('en', { numeric: true });
  await report.compare(names.sort, {
    kind: 'ratio',
    goal: 1.2,
    against: 'Array.sort with a Collator',
    own: async (build) => {
      const { sortBy } = await bundled(build);
      const sortUsers = (list) => sortBy(list, ['username'], (user, field) => user[field]);
      // A short list forgets the words of the round before.
      sortUsers(users.slice(0, 2));
      return measured(timed(() => sortUsers(users)));
    },
    other: timed(() => users.toSorted((a, b) => collator.compare(a.username, b.username))),
    rounds: 11,
  });
  if (!has('jq') || !has('curl')) {
    report.note(
      'jq or curl is not installed: the rows that read, filter, sort and print are left out',
    );
    return;
  }
  const device = await startStaticDevice(bench, file);
  const [address] = device.addresses;
  const pipelines = [
    [names.few, '=', '=='],
    [names.most, '!=', '!='],
  ];
  try {
    for (const [name, sign, jqSign] of pipelines) {
      const options = ['--filter', `lang${sign}de`, '--sort', 'lastname,username', '--json'];
      const program = `map(select(.lang ${jqSign} "de")) | sort_by(.lastname, .username)`;
      const pipe = `curl -sku admin:admin-secret https://${address}/api/user/ | jq -c '${program}'`;
      await report.compare(name, {
        kind: 'faster',
        goal: 2,
        against: 'curl | jq',
        own: ({ command }) =>
          run([...command, 'user', 'list', '--on', address, ...options], device),
        other: () => run(['sh', '-c', pipe]),
        rounds: 7,
      });
    }
  } finally {
    device.close();
  }
}

/** The figures of work inside this process. */
function timed(work) {
  return async () => {
    const cpu = process.cpuUsage();
    const startedAt = performance.now();
    work();
    const ms = performance.now() - startedAt;
    const { user, system } = process.cpuUsage(cpu);
    return { ms, cpuMs: (user + system) / 1000 };
  };
}
