import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Product, type RunningProduct, skipReason, startProduct } from './product.ts';

type Fields = Readonly<Record<string, unknown>>;
type Held = Readonly<Record<string, Fields>>;

const VERBS = [
  'list',
  'show',
  'add',
  'undo of add',
  'set',
  'undo of set',
  'delete',
  'undo of delete',
  'restore',
  'restore of a deleted record',
  'changes',
] as const;
type Verb = (typeof VERBS)[number];

/** A resource of a product, with records for each verb. */
export interface Subject {
  /** The word on the line: `user`. */
  readonly resource: string;
  /** The natural key, as devsh shows it. */
  readonly keyField: string;
  /** Default: all. */
  readonly verbs?: readonly Verb[];
  /** What the product holds, asked without devsh. */
  readonly held: (product: RunningProduct) => Promise<readonly Fields[]>;
  /** What its list shows of that, if not all. */
  readonly listed?: (product: RunningProduct) => Promise<readonly Fields[]>;
  /** The fields that its list leaves out: devsh says that it knows too little of their past. */
  readonly unlisted?: readonly string[];
  /** The key of a new record of this name, if not the name. */
  readonly newKey?: (name: string) => string;
  /** The words of a new record, and what the product must hold of it then. */
  readonly added: (key: string) => { readonly words: string; readonly fields: Fields };
  /** The same of a change of this record; `back` tells the product itself to take it back. */
  readonly set: {
    readonly key: string;
    readonly words: string;
    readonly fields: Fields;
    readonly back: (product: RunningProduct) => Promise<unknown>;
  };
  /** Records to delete: by a line, before an undo, before a restore. */
  readonly deleted: readonly [string, string, string];
  /** What does not come back: fields that the product sets, and what devsh says that it adds otherwise. */
  readonly lost?: readonly string[];
  /** The verdict of making it again: `differs` if a password or contents of it are lost. Default: `done`. */
  readonly again?: 'done' | 'differs';
  /** A record without what no delete can bring back inside a field. */
  readonly alike?: (record: Fields) => Fields;
  /** Fields that change by themselves. */
  readonly moving?: readonly string[];
  /** Masked fields. */
  readonly secret?: readonly string[];
  /** What devsh refuses, and a pattern of its reason. Nothing changes then. */
  readonly refused?: Readonly<Partial<Record<Verb, RegExp>>>;
  /** The option that a line needs, and the reason for which devsh refuses it all without. */
  readonly needs?: Readonly<Partial<Record<Verb, { reason?: RegExp; option: string }>>>;
  /** What is wrong today: its test must fail. */
  readonly wrong?: Readonly<Partial<Record<Verb, string>>>;
}

interface WriteDocument {
  /** All that devsh said beside it. */
  readonly stderr: string;
  readonly results: readonly {
    readonly verdict: string;
    readonly key: string;
    readonly differences?: readonly { readonly field: string }[];
    readonly note?: string;
  }[];
}

interface ChangesDocument {
  readonly changes: readonly {
    readonly kind: string;
    readonly author: string | null;
    readonly fields?: readonly { field: string; before?: unknown; after?: unknown }[];
  }[];
}

/** Each verb of devsh on a real product, and what the product then says of itself. */
export function describeVerbs(
  product: Product,
  subjects: readonly Subject[],
  {
    prepare,
    more,
  }: {
    readonly prepare?: (product: RunningProduct) => Promise<unknown>;
    readonly more?: (running: () => RunningProduct) => void;
  } = {},
): void {
  const reason = skipReason(product);
  describe.skipIf(reason !== '')(`${product.name}${reason}`, () => {
    let running: RunningProduct | undefined;
    const cleanUps: (() => Promise<void>)[] = [];
    const ready = (): RunningProduct => {
      if (running === undefined) throw new Error(`${product.name} does not run`);
      return running;
    };
    beforeAll(async () => {
      running = await startProduct(product, (cleanUp) => cleanUps.unshift(cleanUp));
      await prepare?.(running);
    }, 180_000);
    afterAll(async () => {
      for (const cleanUp of cleanUps) await cleanUp();
    });
    for (const subject of subjects) {
      describe(subject.resource, () => {
        for (const verb of subject.verbs ?? VERBS) {
          const fault = subject.wrong?.[verb];
          const run = fault === undefined ? test : test.fails;
          run(fault === undefined ? verb : `${verb}: ${fault}`, () =>
            CHECKS[verb](new Checked(ready(), subject), subject),
          );
        }
      });
    }
    more?.(ready);
  });
}

/** One subject in one test. */
class Checked {
  readonly #product: RunningProduct;
  readonly #subject: Subject;

  constructor(product: RunningProduct, subject: Subject) {
    this.#product = product;
    this.#subject = subject;
  }

  /** What the product holds by key, without what moves by itself. */
  async held(): Promise<Held> {
    return this.#keyed(await this.#subject.held(this.#product));
  }

  /** What its list shows of that. */
  async listed(): Promise<Held> {
    const { listed, held } = this.#subject;
    return this.#keyed(await (listed ?? held)(this.#product));
  }

  /** What devsh shows of it. */
  async shown(line: string): Promise<Held> {
    const { devices } = (await this.json(line)) as { devices: [{ records: readonly Fields[] }] };
    return this.#keyed(devices[0].records);
  }

  #keyed(records: readonly Fields[]): Held {
    const { keyField, moving = [] } = this.#subject;
    const keyed = records.map((record) => [String(record[keyField]), record] as const);
    return without(Object.fromEntries(keyed), moving);
  }

  /** Runs a line that writes. Undefined if devsh refuses it, as the subject says. */
  async write(line: string, verb: Verb): Promise<WriteDocument | undefined> {
    const { refused, needs } = this.#subject;
    const need = needs?.[verb];
    const refusal = need?.reason ?? refused?.[verb];
    if (refusal !== undefined) {
      const before = await this.held();
      const { stdout, stderr, exitCode } = await this.#say(line);
      expect(stdout + stderr).toMatch(refusal);
      expect(exitCode).not.toBe(0);
      expect(await this.held()).toEqual(before);
    }
    if (refusal !== undefined && need === undefined) return undefined;
    const { stdout, stderr } = await this.#say(`${line} ${need?.option ?? ''}`.trim());
    expect(stdout, stderr).toContain('"results"');
    return { ...(JSON.parse(stdout) as Omit<WriteDocument, 'stderr'>), stderr };
  }

  #say(line: string): ReturnType<RunningProduct['devsh']> {
    return this.#product.devsh(`${line} --on box --yes --json`);
  }

  async json(line: string): Promise<unknown> {
    const { stdout, stderr } = await this.#product.devsh(`${line} --on box --json`);
    expect(stdout, stderr).not.toBe('');
    return JSON.parse(stdout);
  }

  async setBack(): Promise<void> {
    await this.#subject.set.back(this.#product);
  }
}

function without(held: Held, fields: readonly string[]): Held {
  const kept = (record: Fields): Fields =>
    Object.fromEntries(Object.entries(record).filter(([field]) => !fields.includes(field)));
  return Object.fromEntries(Object.entries(held).map(([key, record]) => [key, kept(record)]));
}

function expectDone(document: WriteDocument): void {
  const verdicts = document.results.map(({ verdict }) => verdict);
  expect(verdicts, JSON.stringify(document.results)).toEqual(['done']);
}

/**
 * The record is there again, all is as before but for what is lost of it, and devsh names all that
 * really differs and nothing else.
 */
async function expectMadeAgain(
  checked: Checked,
  { lost = [], unlisted = [], again = 'done', alike = (record) => record }: Subject,
  before: Held,
  key: string,
  document: WriteDocument,
): Promise<void> {
  const after = await checked.held();
  const rest = (held: Held): Held =>
    without(Object.fromEntries(Object.entries(held).map(([one, it]) => [one, alike(it)])), lost);
  expect(rest(after)).toEqual(rest(before));
  const [old = {}, made = {}] = [before[key], after[key]];
  const differing = Object.keys({ ...old, ...made }).filter(
    (field) => JSON.stringify(old[field]) !== JSON.stringify(made[field]),
  );
  expect(document.results[0]?.verdict).toBe(again);
  const { differences = [], note = '' } = document.results[0] ?? {};
  const named = differences.map(({ field }) => field);
  const said = [...named, ...`${note} ${document.stderr}`.split(/[^\w-]+/)];
  expect(said).toEqual(expect.arrayContaining(differing));
  const claimed = named.filter((field) => field in old && !unlisted.includes(field));
  expect(differing).toEqual(expect.arrayContaining(claimed));
}

/** A time after everything so far, and before everything that follows. */
async function moment(): Promise<string> {
  await wait(5);
  const now = new Date().toISOString();
  await wait(5);
  return now;
}

const CHECKS: Readonly<Record<Verb, (checked: Checked, subject: Subject) => Promise<void>>> = {
  async list(checked, { resource, secret = [] }) {
    const [shown, held] = [await checked.shown(`${resource} list`), await checked.listed()];
    expect(without(shown, secret)).toEqual(without(held, secret));
  },

  async show(checked, { resource, set: { key }, secret = [] }) {
    const shown = await checked.shown(`${resource} show ${key}`);
    const held = (await checked.held())[key] ?? {};
    expect(without(shown, secret)).toEqual(without({ [key]: held }, secret));
  },

  async add(checked, { resource, added, newKey = String }) {
    const key = newKey('new-1');
    const { words, fields } = added(key);
    const before = await checked.held();
    const document = await checked.write(`${resource} add ${words}`, 'add');
    if (document === undefined) return;
    expectDone(document);
    const { [key]: made, ...others } = await checked.held();
    expect(made).toMatchObject(fields);
    expect(others).toEqual(before);
  },

  async 'undo of add'(checked, { resource, added, newKey = String }) {
    const key = newKey('new-2');
    const before = await checked.held();
    await checked.write(`${resource} add ${added(key).words}`, 'add');
    expect(Object.keys(await checked.held())).toContain(key);
    const document = await checked.write('undo', 'undo of add');
    if (document === undefined) return;
    expectDone(document);
    expect(await checked.held()).toEqual(before);
  },

  async set(checked, { resource, set: { key, words, fields } }) {
    const before = await checked.held();
    const document = await checked.write(`${resource} set ${key} ${words}`, 'set');
    if (document === undefined) return;
    expectDone(document);
    const after = await checked.held();
    await checked.setBack();
    expect(after).toEqual({ ...before, [key]: { ...before[key], ...fields } });
    expect(await checked.held()).toEqual(before);
  },

  async 'undo of set'(checked, { resource, set: { key, words } }) {
    const before = await checked.held();
    await checked.write(`${resource} set ${key} ${words}`, 'set');
    expect(await checked.held()).not.toEqual(before);
    const document = await checked.write('undo', 'undo of set');
    if (document === undefined) return;
    const after = await checked.held();
    await checked.setBack();
    expectDone(document);
    expect(after).toEqual(before);
  },

  async delete(checked, { resource, deleted: [key] }) {
    const { [key]: own, ...others } = await checked.held();
    expect(own).toBeDefined();
    const document = await checked.write(`${resource} delete ${key}`, 'delete');
    if (document === undefined) return;
    expectDone(document);
    expect(await checked.held()).toEqual(others);
  },

  async 'undo of delete'(checked, subject) {
    const { resource, deleted } = subject;
    const before = await checked.held();
    await checked.write(`${resource} delete ${deleted[1]}`, 'delete');
    expect(Object.keys(await checked.held())).not.toContain(deleted[1]);
    const document = await checked.write('undo', 'undo of delete');
    if (document === undefined) return;
    await expectMadeAgain(checked, subject, before, deleted[1], document);
  },

  async restore(checked, subject) {
    const { resource, added, newKey = String, unlisted = [] } = subject;
    const { key, words } = subject.set;
    const addedKey = newKey('new-3');
    const before = await checked.held();
    await checked.shown(`${resource} list`);
    const then = await moment();
    await checked.write(`${resource} set ${key} ${words}`, 'set');
    await checked.write(`${resource} add ${added(addedKey).words}`, 'add');
    expect(await checked.held()).not.toEqual(before);
    const line = `${resource} restore --at ${then} --prune`;
    const document = await checked.write(line, 'restore');
    if (document === undefined) return;
    const made = document.results.filter(({ verdict }) => verdict === 'done');
    expect(made.map((result) => result.key).sort()).toEqual([key, addedKey].sort());
    const after = await checked.held();
    await checked.setBack();
    expect(without(after, unlisted)).toEqual(without(before, unlisted));
    if (unlisted.length > 0) expect(document.stderr).toContain('known are only');
  },

  async 'restore of a deleted record'(checked, subject) {
    const { resource, deleted } = subject;
    const before = await checked.held();
    await checked.shown(`${resource} list`);
    const then = await moment();
    await checked.write(`${resource} delete ${deleted[2]}`, 'delete');
    expect(Object.keys(await checked.held())).not.toContain(deleted[2]);
    const verb = 'restore of a deleted record';
    const document = await checked.write(`${resource} restore ${deleted[2]} --at ${then}`, verb);
    if (document === undefined) return;
    const { unlisted = [], lost = [] } = subject;
    if (unlisted.length > 0) expect(document.stderr).toContain('known are only');
    const known = { ...subject, lost: [...lost, ...unlisted] };
    await expectMadeAgain(checked, known, before, deleted[2], document);
  },

  async changes(checked, { resource, unlisted = [], set: { key, words, fields } }) {
    await checked.shown(`${resource} list`);
    const then = await moment();
    const before = (await checked.held())[key] ?? {};
    await checked.write(`${resource} set ${key} ${words}`, 'set');
    await checked.setBack();
    await checked.shown(`${resource} list`);
    const { changes } = (await checked.json(
      `${resource} changes ${key} --since ${then}`,
    )) as ChangesDocument;
    const said = changes.map(({ kind, author, fields: all = [] }) => ({
      kind,
      author,
      was: Object.fromEntries(all.map((one) => [one.field, one.before])),
      is: Object.fromEntries(all.map((one) => [one.field, one.after])),
    }));
    const listed = Object.keys(fields).filter((field) => !unlisted.includes(field));
    const was = Object.fromEntries(listed.map((field) => [field, before[field]]));
    const is = Object.fromEntries(listed.map((field) => [field, fields[field]]));
    expect(said).toEqual([
      { kind: 'changed', author: 'other', was: is, is: was },
      { kind: 'changed', author: 'run', was, is },
    ]);
  },
};
