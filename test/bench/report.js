// Collects the figures, compares them with their goals, and prints them.
import { inTurn, median } from './rounds.js';

/** The units of figures, and whether more is better. */
const KINDS = {
  /** Milliseconds more than the other. */
  over: { text: (value) => `${value < 0 ? '' : '+'}${value.toFixed(0)} ms` },
  /** This divided by the other. */
  ratio: { text: (value) => `${value.toFixed(2)}x` },
  /** The other divided by this. */
  faster: { text: (value) => `${value.toFixed(1)}x faster`, isMoreBetter: true },
  ms: { text: (value) => `${value.toFixed(1)} ms` },
  MB: { text: (value) => `${value.toFixed(0)} MB` },
  bytes: { text: (value) => `${value.toFixed(0)} bytes` },
  percent: { text: (value) => `${value.toFixed(0)} %`, isMoreBetter: true },
};

export class Report {
  #rows = [];
  #notes = [];
  #isJson;
  #only;
  #rounds;

  constructor({ isJson, only, rounds }) {
    this.#isJson = isJson;
    this.#only = only;
    this.#rounds = rounds;
  }

  /** Whether any of these rows is requested. Start nothing for them if not. */
  wants(...names) {
    return names.some((name) => name.includes(this.#only));
  }

  rounds(usual) {
    return this.#rounds ?? usual;
  }

  note(text) {
    this.#notes.push(text);
  }

  /** Runs `work`. A failure becomes a row, and the other rows continue. */
  async attempt(name, work) {
    try {
      await work();
    } catch (error) {
      const row = { name, isMet: false, failure: error.message };
      this.#rows.push(row);
      if (!this.#isJson) console.log(`! ${name.padEnd(58)} failed: ${error.message}`);
    }
  }

  /** Whether a row could not be measured. */
  get hasFailed() {
    return this.#rows.some(({ failure }) => failure !== undefined);
  }

  /**
   * Compares two programs in turn. `own` and `other` resolve to `{ms, cpuMs}`, see `run`.
   *
   * @param goal the maximum, or the minimum if more is better
   */
  async compare(name, how) {
    if (this.wants(name)) await this.attempt(name, () => this.#compared(name, how));
  }

  async #compared(name, { kind, goal, own, other, against, rounds }) {
    const [ours, theirs] = await inTurn([own, other], this.rounds(rounds));
    const compared = (part) =>
      median(ours.map((figures, round) => pair(kind, figures[part], theirs[round][part])));
    this.add(name, {
      kind,
      goal,
      value: compared('ms'),
      cpu: compared('cpuMs'),
      ownMs: median(ours.map(({ ms }) => ms)),
      otherMs: median(theirs.map(({ ms }) => ms)),
      against,
    });
  }

  /** Adds a figure. `cpu` is the same by computing time, which depends less on the load. */
  add(name, { kind, goal, value, cpu, ownMs, otherMs, against = '', detail }) {
    if (!this.wants(name)) return;
    const isMet =
      goal === undefined ? undefined : KINDS[kind].isMoreBetter ? value >= goal : value <= goal;
    const row = { name, against, kind, goal, isMet, value, cpu, ownMs, otherMs, detail };
    this.#rows.push(row);
    if (!this.#isJson) console.log(lineOf(row));
  }

  print() {
    if (this.#isJson)
      console.log(JSON.stringify({ rows: this.#rows, notes: this.#notes }, null, 2));
    else for (const note of this.#notes) console.log(note);
  }
}

/** Stands in for a report to learn which rows there are: wants none, so that nothing is measured. */
export class RowNames {
  names = new Set();

  wants(...names) {
    for (const name of names) this.names.add(name);
    return false;
  }

  attempt(name, work) {
    return work();
  }
}

function pair(kind, own, other) {
  if (kind === 'over') return own - other;
  return kind === 'faster' ? other / own : own / other;
}

function lineOf({ name, against, kind, goal, isMet, value, cpu, ownMs, otherMs, detail }) {
  const { text } = KINDS[kind];
  const times = ownMs === undefined ? '' : `${ownMs.toFixed(1)} ms beside ${otherMs.toFixed(1)} ms`;
  const computing = cpu === undefined || Number.isNaN(cpu) ? '' : `computing time ${text(cpu)}`;
  const more = [against && `against ${against}`, times, computing, detail].filter(Boolean);
  return [
    isMet === undefined ? ' ' : isMet ? '✓' : '✗',
    name.padEnd(58),
    text(value).padStart(12),
    (goal === undefined ? '' : `goal ${text(goal)}`).padEnd(18),
    more.join(' · '),
  ].join(' ');
}
