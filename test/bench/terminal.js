// The full screen on long tables: key to frame, held keys, bytes, filter. Timed in real ptys, from the
// key to the last byte of its frame.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFleet, startStaticDevice } from './fleet.js';
import { bundleParts } from './parts.js';
import { has, quantile, run } from './rounds.js';
import { openScreen } from './screen.js';
import { openTable } from './table-screen.js';

const FEW = 1000;
const SIZES = [
  { columns: 80, rows: 24, key: { p50: 5, p99: 16 } },
  { columns: 200, rows: 50, key: { p50: 12, p99: 33 } },
];
/** Typed letter by letter, then erased. */
const WORDS = ['anna', 'garcia', 'wisn', 'novak', 'ipek'];
const KEYS_A_ROUND = 20;
const LONG_VALUE = 300_000;
/** The question about a plan of many steps; a narrow screen breaks its line. */
const QUESTION = /Type \S+ to/;

export async function terminalRows(bench) {
  const { report, records } = bench;
  await report.attempt('long value', () => longValueRow(bench));
  const declined = `key to frame after a delete of ${records} marked rows was declined`;
  const names = SIZES.flatMap((size) => Object.values(namesFor(size, records)));
  if (!report.wants(declined, ...names)) return;
  const long = await startFleet(bench, { devices: 1, users: records });
  const short = await startFleet(bench, { devices: 1, users: FEW });
  try {
    const csv = has('vd') || has('fzf') ? await csvOf(bench, long) : undefined;
    for (const size of SIZES) await rowsAt(size, bench, { long, short, csv });
    if (report.wants(declined))
      await report.attempt(declined, () => declinedRow(declined, bench, long));
  } finally {
    long.close();
    short.close();
  }
}

function namesFor({ columns, rows }, records) {
  const at = `${columns}x${rows}`;
  const many = `${records} records`;
  return {
    key: `key to frame, ${many}, ${at}`,
    held: `held key at 30 Hz, ${many}, ${at}: own frames`,
    bytes: `bytes per key, moving the selection, ${at}`,
    scroll: `bytes per key, scrolling, ${at}`,
    letter: `filter ${many}, ${at}: the letter shows`,
    filter: `filter ${many}, ${at}: the rows show`,
  };
}

/** The same records for other programs. */
async function csvOf({ built, folder, records }, { env, addresses }) {
  const file = join(folder, `${records}.csv`);
  const chunks = [];
  const list = ['user', 'list', '--on', addresses[0], '--format', 'csv'];
  await run([process.execPath, built.cli, ...list], {
    env,
    onOutput: (ms, chunk) => chunks.push(chunk),
  });
  writeFileSync(file, Buffer.concat(chunks));
  return file;
}

async function rowsAt(size, { report, built, records, folder }, { long, short, csv }) {
  const names = namesFor(size, records);
  if (!report.wants(...Object.values(names))) return;
  const at = `${size.columns}x${size.rows}`;
  const screens = {
    own: await openTable(built, long, size),
    few: await openTable(built, short, size),
  };
  try {
    if (report.wants(names.key)) {
      if (has('vd')) screens.vd = await openVisidata(csv, folder, size);
      else report.note(`visidata is not installed: its row at ${at} is left out`);
      await keyRows(report, names.key, screens, size.key);
    }
    await byteRows(report, names, screens.own);
    if (report.wants(names.held)) {
      const share = await screens.own.hold('j', 90, 30);
      report.add(names.held, { kind: 'percent', goal: 95, value: share * 100 });
    }
    if (report.wants(names.letter, names.filter)) {
      if (has('fzf')) screens.fzf = await openFzf(csv, size);
      else report.note(`fzf is not installed: its row at ${at} is left out`);
      await filterRows(report, names, screens);
    }
  } finally {
    for (const screen of Object.values(screens)) await screen.close();
  }
}

async function keyRows(report, name, screens, goal) {
  const figures = await pressedInTurn(screens, 'j', report.rounds(5));
  const quantileOf = (figure) => (who, share) =>
    quantile(
      figures[who].map((press) => press[figure]),
      share,
    );
  const ms = quantileOf('lastMs');
  const cpuMs = quantileOf('cpuMs');
  for (const [part, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ]) {
    report.add(`${name} ${part}`, {
      kind: 'ms',
      goal: goal[part],
      value: ms('own', share),
      detail: `computing time ${cpuMs('own', share).toFixed(1)} ms`,
    });
  }
  const against = (who) => ({
    kind: 'ratio',
    value: ms('own', 0.5) / ms(who, 0.5),
    ownMs: ms('own', 0.5),
    otherMs: ms(who, 0.5),
    cpu: cpuMs('own', 0.5) / cpuMs(who, 0.5),
    detail: `p99 ${ms('own', 0.99).toFixed(1)} ms beside ${ms(who, 0.99).toFixed(1)} ms`,
  });
  report.add(`${name} p50`, { ...against('few'), goal: 1.2, against: `${FEW} records` });
  if (screens.vd === undefined) return;
  report.add(`${name} p50`, { ...against('vd'), goal: 1, against: 'visidata' });
}

/** A value that takes over a minute to measure as a whole. */
async function longValueRow(bench) {
  const { report, built, folder } = bench;
  const name = `key to frame beside a value of ${LONG_VALUE} wide characters`;
  if (!report.wants(name)) return;
  const users = Array.from({ length: 20 }, (_, index) => ({
    uuid: `id-${index}`,
    first_name: index === 3 ? '漢'.repeat(LONG_VALUE) : 'Bob',
    username: `user${index}`,
    lang: 'de',
  }));
  const file = join(folder, 'long-value.json');
  writeFileSync(file, JSON.stringify(users));
  // The device takes its certificate from them.
  await bundleParts(built);
  const device = await startStaticDevice(bench, file);
  const own = await openTable(built, device, SIZES[0]);
  try {
    const figures = [];
    // Down and up again: the cursor, and with it the details, pass the long value.
    for (let press = 0; press < report.rounds(5) * KEYS_A_ROUND; press += 1) {
      figures.push((await own.press(press % KEYS_A_ROUND < KEYS_A_ROUND / 2 ? 'j' : 'k')).lastMs);
    }
    report.add(`${name} p50`, { kind: 'ms', goal: 10, value: quantile(figures, 0.5) });
    report.add(`${name} p99`, { kind: 'ms', goal: 50, value: quantile(figures, 0.99) });
  } finally {
    await own.close();
    device.close();
  }
}

/** Each screen in turn, so that load affects all of them. */
async function pressedInTurn(screens, key, rounds) {
  const figures = Object.fromEntries(Object.keys(screens).map((who) => [who, []]));
  for (let press = -KEYS_A_ROUND; press < rounds * KEYS_A_ROUND; press += 1) {
    for (const [who, screen] of Object.entries(screens)) {
      const figure = await screen.press(key);
      // The first ones warm up and move the cursor to the end of the screen.
      if (press >= 0) figures[who].push(figure);
    }
  }
  return figures;
}

async function byteRows(report, names, screen) {
  if (report.wants(names.scroll)) {
    await toTheTop(screen);
    for (let row = 0; row < 50; row += 1) await screen.press('j');
    const scroll = await pressedInTurn({ screen }, 'j', 1);
    report.add(names.scroll, { kind: 'bytes', value: medianBytes(scroll.screen) });
  }
  if (report.wants(names.bytes)) {
    const moves = [];
    await toTheTop(screen);
    for (const key of 'jjjjjjjjjjkkkkkkkkkk') moves.push(await screen.press(key));
    report.add(names.bytes, { kind: 'bytes', goal: 300, value: medianBytes(moves) });
  }
}

/** Moves down first, so that the key to the top has an effect to wait for. */
async function toTheTop(screen) {
  await screen.press('j');
  await screen.press('g');
}

function medianBytes(figures) {
  return quantile(
    figures.map(({ bytes }) => bytes),
    0.5,
  );
}

/** Letter by letter: when the letter shows, and when the filtered rows show. */
async function filterRows(report, names, { own, fzf }) {
  const letters = [];
  const fzfLetters = [];
  for (let round = -1; round < report.rounds(5); round += 1) {
    for (const word of WORDS) {
      await own.press('/');
      for (const letter of word) {
        const figure = await own.press(letter, { quietMs: 80 });
        const other = fzf && (await fzf.press(letter, { quietMs: 80 }));
        if (round < 0) continue;
        letters.push(figure);
        if (other) fzfLetters.push(other);
      }
      await own.press('\x03', { quietMs: 80 });
      await fzf?.press('\x15', { quietMs: 80 });
    }
  }
  const ms = (figures, part, share) =>
    quantile(
      figures.map((figure) => figure[part]),
      share,
    );
  report.add(`${names.letter} p50`, { kind: 'ms', value: ms(letters, 'firstMs', 0.5) });
  report.add(`${names.letter} p99`, { kind: 'ms', value: ms(letters, 'firstMs', 0.99) });
  for (const [part, share, goal] of [
    ['p50', 0.5, 20],
    ['p99', 0.99, 50],
  ]) {
    const beside = fzf === undefined ? '' : `fzf ${ms(fzfLetters, 'lastMs', share).toFixed(1)} ms`;
    report.add(`${names.filter} ${part}`, {
      kind: 'ms',
      goal,
      value: ms(letters, 'lastMs', share),
      detail: beside,
    });
  }
}

async function openVisidata(csv, home, size) {
  const screen = openScreen(['vd', csv], { ...size, env: { HOME: home } });
  await screen.shows(/username/);
  await screen.quiet(2000);
  return screen;
}

async function openFzf(csv, size) {
  const screen = openScreen(['bash', '-c', 'fzf --layout=reverse < "$1"', 'fzf', csv], size);
  await screen.shows(/admin/);
  await screen.quiet(2000);
  return screen;
}

async function declinedRow(name, { report, built }, long) {
  const screen = await openTable(built, long, SIZES[0]);
  try {
    await screen.press('*', { quietMs: 1000 });
    await screen.press('d');
    await screen.shows(QUESTION);
    await screen.quiet(1000);
    await screen.press('\x1b', { quietMs: 1000 });
    const figures = [];
    for (let key = 0; key < 40; key += 1) figures.push(await screen.press(key % 2 ? 'k' : 'j'));
    const ms = (share) =>
      quantile(
        figures.map(({ lastMs }) => lastMs),
        share,
      );
    report.add(`${name} p50`, { kind: 'ms', goal: 10, value: ms(0.5) });
    report.add(`${name} p99`, { kind: 'ms', goal: 33, value: ms(0.99) });
  } finally {
    await screen.close();
  }
}
