// Collects the figures, compares them with their goals, and prints them.
import { profileText } from './profile.js';
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
  #built;
  #compared;
  #profiles;
  #done = new Set();

  /**
   * @param built the build to measure
   * @param other the build to compare it with instead of rivals; `compare` is its name
   */
  constructor({ isJson, only, rounds, built, other, compare, profiles }) {
    this.#isJson = isJson;
    this.#only = only;
    this.#rounds = rounds;
    this.#built = built;
    this.#compared = other && { build: other, name: compare };
    this.#profiles = profiles;
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
   * Compares two programs in turn. `own`, called with a build, and `other` resolve to `{ms, cpuMs}`,
   * see `run`.
   *
   * @param goal the maximum, or the minimum if more is better
   */
  async compare(name, how) {
    if (!this.wants(name)) return;
    if (this.#isOtherMode) await this.measure(name, how);
    else await this.attempt(name, () => this.#comparedWithRival(name, how));
  }

  /**
   * Measures one program. `own`, called with a build, resolves to a figure of `kind`, or to
   * `{ms, cpuMs}`.
   */
  async measure(name, how) {
    if (!this.wants(name)) return;
    // Rows with several rivals are the same without them.
    if (this.#isOtherMode && this.#done.has(name)) return;
    this.#done.add(name);
    const { kind, goal, own, against, rounds } = how;
    await this.attempt(name, async () => {
      if (this.#profiles) await this.#profiled(name, how);
      else if (this.#compared) {
        const { build, name: revision } = this.#compared;
        await this.#comparedWithRival(name, {
          kind: 'ratio',
          own: async (built) => asTimes(await own(built)),
          other: async () => asTimes(await own(build)),
          against: revision,
          rounds,
          unit: kind === 'MB' ? kind : 'ms',
        });
      } else {
        const [figures] = await inTurn([() => own(this.#built)], this.rounds(rounds));
        this.add(name, { kind, goal, value: median(figures), against });
      }
    });
  }

  get #isOtherMode() {
    return this.#profiles !== undefined || this.#compared !== undefined;
  }

  async #profiled(name, { own, rounds }) {
    await own(this.#built);
    this.#profiles.forget();
    for (let round = 0; round < this.rounds(Math.min(rounds, 3)); round += 1) {
      await own(this.#built);
    }
    this.#addProfile(name);
  }

  #addProfile(name) {
    const profile = this.#profiles.take();
    if (profile === undefined) return;
    this.#rows.push({ name, profile });
    if (!this.#isJson) console.log(profileText(name, profile));
  }

  async #comparedWithRival(name, { kind, goal, own, other, against, rounds, unit }) {
    const works = [() => own(this.#built), other];
    const [ours, theirs] = await inTurn(works, this.rounds(rounds));
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
      unit,
    });
  }

  /** Adds a figure. `cpu` is the same by computing time, which depends less on the load. */
  add(name, { kind, goal, value, cpu, ownMs, otherMs, against = '', detail, unit }) {
    if (!this.wants(name) || this.#profiles !== undefined) return;
    if (this.#compared !== undefined && against !== this.#compared.name) {
      this.note(`"${name}" measures one build and cannot be compared`);
      return;
    }
    const isMet =
      goal === undefined ? undefined : KINDS[kind].isMoreBetter ? value >= goal : value <= goal;
    const row = { name, against, kind, goal, isMet, value, cpu, ownMs, otherMs, detail, unit };
    this.#rows.push(row);
    if (!this.#isJson) console.log(lineOf(row));
  }

  print() {
    // What the rows ran that are no pairs.
    if (this.#profiles) this.#addProfile(`rows with "${this.#only}"`);
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

function asTimes(figure) {
  return typeof figure === 'number' ? { ms: figure, cpuMs: Number.NaN } : figure;
}

function pair(kind, own, other) {
  if (kind === 'over') return own - other;
  return kind === 'faster' ? other / own : own / other;
}

function lineOf(row) {
  const { name, against, kind, goal, isMet, value, cpu, ownMs, otherMs, detail, unit = 'ms' } = row;
  const { text } = KINDS[kind];
  const times = ownMs === undefined ? '' : [ownMs, otherMs].map(KINDS[unit].text).join(' beside ');
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
