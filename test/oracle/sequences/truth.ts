import type { Account, Box, Deed, Value } from './box.ts';
import { type Line, NAMES } from './events.ts';
import type { Said } from './world.ts';

/** What a line wanted of one key: whom it was about where it was read, and where it is still to be done. */
interface Intent {
  readonly action: 'add' | 'set' | 'delete';
  readonly key: string;
  /** The values that it writes. */
  readonly fields: Readonly<Record<string, Value>>;
  readonly isLockout: boolean;
  /** The filter by which the key was found: the lang that the account must have. */
  readonly lang?: string | undefined;
  /** The persons on each box; undefined: the box was not read. */
  readonly persons: ReadonlyMap<Box, ReadonlySet<string> | undefined>;
  readonly pending: Set<Box>;
  /** Where it may still be to be done: devsh may go on with it, and need not. */
  readonly open: Set<Box>;
}

/** The state of the boxes when a line began. */
interface Begin {
  readonly line: Line;
  readonly boxes: ReadonlyMap<string, Box>;
  readonly names: readonly string[];
  readonly accounts: ReadonlyMap<Box, readonly Account[]>;
  readonly down: ReadonlySet<Box>;
  readonly deeds: number;
}

/**
 * What really is, and what devsh may do and say: an independent model. It knows the person behind each account, which
 * no device shows.
 */
export class Truth {
  readonly startedAt = new Date().toISOString();
  readonly #deeds: readonly Deed[];
  readonly #first = new Map<Box, readonly Account[]>();
  readonly #intents: Intent[] = [];
  /** What devsh has read of each box. */
  readonly #seen = new Map<Box, readonly Account[]>();
  #begin: Begin | undefined;
  /** Names do not always stand for the same box. */
  #hasMoved = false;
  #hasReplaced = false;

  constructor(boxes: readonly Box[]) {
    this.#deeds = boxes[0]?.deeds ?? [];
    for (const box of boxes) this.#first.set(box, box.accounts);
  }

  /** A box that takes the place of another one. */
  know(box: Box): void {
    this.#first.set(box, box.accounts);
    this.#hasMoved = true;
    this.#hasReplaced = true;
  }

  /** devsh has read a box. */
  saw(box: Box): void {
    if (!box.isDown) this.#seen.set(box, box.accounts);
  }

  moved(): void {
    this.#hasMoved = true;
  }

  begin(line: Line, boxes: ReadonlyMap<string, Box>, names: readonly string[]): void {
    const all = [...boxes.values()];
    this.#begin = {
      ...{ line, boxes, names, deeds: this.#deeds.length },
      accounts: new Map(all.map((box) => [box, box.accounts])),
      down: new Set(all.filter(({ isDown }) => isDown)),
    };
  }

  /** What was wrong about the line: its deeds, its claims, what is owed after it, and whom devsh takes for the author. */
  judge(said: Said, owed: Said, changes: Said): readonly string[] {
    const begin = this.#begin;
    if (begin === undefined) return [];
    const deeds = this.#deeds.slice(begin.deeds).filter(({ by }) => by === 'devsh');
    const faults = [
      ...deeds.flatMap((deed) => this.#wrongPerson(begin, deed)),
      ...deeds.flatMap((deed) => needless(begin, deed)),
      ...falseClaims(begin, deeds, said),
      ...this.#falseWaysBack(begin, said),
    ];
    this.#remember(begin, said);
    for (const name of begin.names) {
      const box = begin.boxes.get(name);
      if (box !== undefined && !begin.down.has(box)) this.saw(box);
    }
    return [...faults, ...this.#lost(begin, owed), ...this.#falseAuthors(begin, changes)];
  }

  #wrongPerson(begin: Begin, { box: name, before, action }: Deed): string[] {
    const box = [...begin.boxes.values()].find((one) => one.name === name);
    if (before === undefined || box === undefined) return [];
    const { person } = before;
    const allowed = this.#allowed(begin, box, before, action);
    if (allowed.has(person)) return [];
    const who = [...allowed].join(' or ') || 'nobody';
    return [
      `WRONG PERSON: ${begin.line.kind} ${action} hit ${person} on ${name}; it may be ${who}`,
    ];
  }

  /** The persons whose account a line may write to on a box. */
  #allowed(
    { line, accounts, names, boxes, deeds }: Begin,
    box: Box,
    before: Account,
    action: Deed['action'],
  ) {
    const held = accounts.get(box) ?? [];
    const over = names.flatMap((name) => accounts.get(boxes.get(name) ?? box) ?? []);
    // A key has one meaning for the whole line: a name, or else an id.
    const isCalled = ({ id, fields }: Account, key: string): boolean =>
      over.some((one) => one.fields['username'] === key) ? fields['username'] === key : id === key;
    switch (line.kind) {
      case 'set':
      case 'new name':
      case 'delete':
      case 'lockout':
      case 'add':
        return personsOf(held.filter((one) => isCalled(one, line.key)));
      case 'set where':
        return personsOf(held.filter(({ fields }) => fields['lang'] === line.lang));
      case 'restore':
      case 'undo':
      case 'undo RUN':
        return this.#meantBy({ line, deeds }, box);
      case 'resume':
      case 'resume RUN':
      case 'resume --also': {
        const intents = this.#intents.filter(
          (intent) =>
            (intent.pending.has(box) || intent.open.has(box)) &&
            (intent.isLockout || intent.action === action) &&
            (intent.lang === undefined || before.fields['lang'] === intent.lang),
        );
        // On a box that was not read it is whom the others had under that key.
        const agreed =
          line.kind === 'resume --also' && boxes.get(NAMES[line.box % boxes.size] ?? '') === box
            ? held.filter(({ fields }) => fields['username'] === line.key)
            : [];
        return new Set([
          ...personsOf(agreed),
          ...intents.flatMap(({ persons }) => [
            ...(persons.get(box) ?? [...persons.values()].flatMap((one) => [...(one ?? [])])),
          ]),
        ]);
      }
    }
  }

  /** Whom an undo or a restore may mean on a box. */
  #meantBy({ line, deeds }: Pick<Begin, 'line' | 'deeds'>, box: Box): ReadonlySet<string> {
    if (line.kind === 'restore') {
      const first = this.#first.get(box) ?? [];
      return personsOf(
        first.filter(({ id, fields }) => [id, fields['username']].includes(line.key)),
      );
    }
    const earlier = this.#deeds.slice(0, deeds);
    const touched = earlier.filter(({ by, box: on }) => by === 'devsh' && on === box.name);
    return personsOf(touched.flatMap((deed) => [deed.before ?? [], deed.after ?? []].flat()));
  }

  /** An undo is not done as long as somebody whom devsh deleted under that key is missing. */
  #falseWaysBack({ line, boxes, deeds }: Begin, { results = [] }: Said): string[] {
    if (!isUndo(line)) return [];
    return results.flatMap(({ device, key, action, verdict }) => {
      const box = boxes.get(device);
      if (box === undefined || action !== 'add' || !/^(?:done|unchanged)$/.test(verdict)) return [];
      const deleted = this.#deeds
        .slice(0, deeds)
        .findLast((one) => one.box === box.name && one.by === 'devsh' && one.action === 'delete');
      const { person = '' } = deleted?.before ?? {};
      const isBack = deleted === undefined || box.accounts.some((one) => one.person === person);
      return isBack
        ? []
        : [`FALSE: undo of ${key} on ${device} is "${verdict}"; ${person} is missing`];
    });
  }

  /** Keeps what the line wanted, and what it left or settled. */
  #remember(begin: Begin, { run, results = [] }: Said): void {
    const { line, boxes, names, accounts, down } = begin;
    const boxOf = (device: string): Box | undefined => boxes.get(device);
    if (isUndo(line) || line.kind === 'restore') {
      const meantPersons = new Map(
        [...boxes.values()].map((box) => [box, this.#meantBy(begin, box)] as const),
      );
      // What these cancel is not modelled: nothing is expected of older intents any more.
      if (run !== undefined) for (const { pending } of this.#intents) pending.clear();
      // What was asked about, had drifted or failed stays to be done.
      for (const { device, key, action, verdict } of results) {
        const box = boxOf(device);
        if (box === undefined || verdict === 'done' || verdict === 'unchanged') continue;
        this.#intents.push({
          ...{ action: action as Intent['action'], key, fields: {}, isLockout: false },
          persons: new Map([[box, meantPersons.get(box) ?? new Set()]]),
          ...{ pending: new Set(), open: new Set([box]) },
        });
      }
      return;
    }
    if (isResume(line)) {
      for (const { device, key, verdict } of results) {
        if (verdict === 'drift' || verdict === 'skipped') continue;
        const box = boxOf(device);
        for (const intent of this.#intents) {
          if (box === undefined || intent.key !== key) continue;
          // Another intent for the same account may be what was settled.
          if (verdict === 'done' && !isDone(intent, box)) continue;
          intent.pending.delete(box);
          if (verdict === 'done' || verdict === 'unchanged') intent.open.delete(box);
        }
      }
      return;
    }
    if (run === undefined) return;
    const over = names.flatMap((name) => boxOf(name) ?? []);
    // A box that was not read has the filter for a key.
    const found = results.filter(({ key }) => !key.includes('='));
    const keys = 'key' in line ? [line.key] : [...new Set(found.map(({ key }) => key))];
    for (const key of keys) {
      const persons = new Map(
        over.map((box) => {
          const held = down.has(box) ? this.#seen.get(box) : accounts.get(box);
          const named = held?.filter(({ id, fields }) => [id, fields['username']].includes(key));
          return [box, named && personsOf(named)] as const;
        }),
      );
      const intent: Intent = {
        action: line.kind === 'add' || line.kind === 'delete' ? line.kind : 'set',
        key,
        fields: fieldsOf(line),
        isLockout: line.kind === 'lockout',
        lang: line.kind === 'set where' ? line.lang : undefined,
        persons,
        // Older work follows the record to its new name: none is expected under the old one.
        pending: new Set(over.filter((box) => down.has(box) && line.kind !== 'new name')),
        open: new Set(
          over.filter((box) => {
            const own = results.find((one) => boxOf(one.device) === box && one.key === key);
            return own === undefined || !['done', 'unchanged'].includes(own.verdict);
          }),
        ),
      };
      for (const older of this.#intents) {
        for (const box of over) {
          const isCounted =
            down.has(box) ||
            results.some(
              (one) =>
                boxOf(one.device) === box &&
                one.key === key &&
                (one.verdict === 'done' || one.verdict === 'unchanged'),
            );
          // What is not certain is not expected.
          const isLeft = results.some((one) => boxOf(one.device) === box) && !isCounted;
          const isRenamed = line.kind === 'new name' && [line.key, line.to].includes(older.key);
          if ((isCounted && replaces(intent, older)) || isLeft || isRenamed) {
            older.pending.delete(box);
          }
        }
      }
      this.#intents.push(intent);
    }
  }

  /** Work that is still to be done and that devsh no longer lists. */
  #lost({ boxes }: Begin, { pending: listed = [] }: Said): string[] {
    if (this.#hasReplaced) return [];
    return this.#intents.flatMap(({ pending, key, action }) =>
      [...pending].flatMap((box) => {
        const name = [...boxes].find(([, one]) => one === box)?.[0] ?? '';
        const isListed = listed.some(
          ({ device, change }) => (this.#hasMoved || device === name) && change.includes(key),
        );
        return isListed ? [] : [`LOST: ${action} ${key} on ${name} is pending, and is not listed`];
      }),
    );
  }

  #falseAuthors({ boxes }: Begin, { changes = [] }: Said): string[] {
    if (this.#hasMoved) return [];
    return changes.flatMap(({ device, key: numbered, author }) => {
      // The second of two of one name is `ann#2`.
      const key = numbered?.replace(/#\d+$/, '');
      if (key === undefined) return [];
      if (author !== 'run' && author !== 'other') return [];
      const box = boxes.get(device)?.name;
      const by = author === 'run' ? 'devsh' : 'other';
      const isSo = this.#deeds.some(
        (deed) =>
          deed.box === box &&
          deed.by === by &&
          [deed.before, deed.after].some((one) => one?.fields['username'] === key),
      );
      return isSo ? [] : [`FALSE AUTHOR: ${key} on ${device} is said to be changed by ${author}`];
    });
  }
}

function isUndo({ kind }: Line): boolean {
  return kind === 'undo' || kind === 'undo RUN';
}

function isResume({ kind }: Line): boolean {
  return kind.startsWith('resume');
}

function fieldsOf(line: Line): Readonly<Record<string, Value>> {
  if (line.kind === 'new name') return { username: line.to };
  if (line.kind === 'set') return line.fields;
  if (line.kind === 'lockout') return { is_active: false };
  return line.kind === 'set where' ? { last_name: 'Where' } : {};
}

function isDone({ action, key, fields }: Intent, box: Box): boolean {
  const named = box.named(key);
  if (action !== 'set') return action === 'delete' ? named.length === 0 : named.length > 0;
  return named.some((one) =>
    Object.entries(fields).every(([field, value]) => one.fields[field] === value),
  );
}

function replaces(newer: Intent, older: Intent): boolean {
  if (newer.key !== older.key) return false;
  if (newer.action === 'delete') return true;
  if (newer.isLockout) return older.action !== 'delete';
  if (newer.action === 'add') return older.action === 'add';
  const isCovered = Object.keys(older.fields).every((field) => Object.hasOwn(newer.fields, field));
  return older.action === 'set' && !older.isLockout && isCovered;
}

function personsOf(accounts: readonly Account[]): ReadonlySet<string> {
  return new Set(accounts.map(({ person }) => person));
}

/** Writes that changed nothing, and accounts that were made twice. */
function needless({ line, boxes, accounts }: Begin, { box: name, action, before, after }: Deed) {
  const box = [...boxes.values()].find((one) => one.name === name);
  const username = after?.fields['username'];
  if (action === 'add') {
    const isTwice =
      box !== undefined &&
      (accounts.get(box) ?? []).some(({ fields }) => fields['username'] === username);
    return isTwice ? [`DOUBLED: ${line.kind} made ${String(username)} again on ${name}`] : [];
  }
  const isSame = JSON.stringify(before?.fields) === JSON.stringify(after?.fields);
  return action === 'set' && isSame ? [`NEEDLESS: ${line.kind} changed nothing on ${name}`] : [];
}

/** Verdicts that the boxes belie. */
function falseClaims({ line, boxes, accounts }: Begin, deeds: readonly Deed[], said: Said) {
  return (said.results ?? []).flatMap(({ device, key, verdict, action }) => {
    const box = boxes.get(device);
    if (box === undefined) return [];
    const named = box.named(key);
    const isAmbiguous =
      (accounts.get(box) ?? []).filter(({ fields }) => fields['username'] === key).length > 1;
    const claim = `FALSE: ${action} ${key} on ${device} is "${verdict}"`;
    const isWritten = deeds.some(
      (deed) => deed.box === box.name && (deed.before ?? deed.after)?.fields['username'] === key,
    );
    if (['failed', 'no effect', 'drift', 'skipped', 'unchanged'].includes(verdict)) {
      const isChanged = isWritten && action !== 'add';
      return isChanged && !isAmbiguous ? [`${claim}, and devsh has changed it`] : [];
    }
    if (verdict !== 'done' || isAmbiguous || isUndo(line) || line.kind === 'restore') {
      return [];
    }
    // One resume may delete a record and then make it again.
    const isMadeAgain = said.results?.some((one) => one.key === key && one.action === 'add');
    if (action === 'delete') {
      return named.length === 0 || isMadeAgain ? [] : [`${claim}, and it is there`];
    }
    if (action === 'add') return named.length > 0 ? [] : [`${claim}, and it is not there`];
    const wanted = line.kind === 'set' ? line.fields : {};
    const holds = named.some(({ fields }) =>
      Object.entries(wanted).every(([field, value]) => fields[field] === value),
    );
    return holds || isResume(line) || line.kind === 'new name'
      ? []
      : [`${claim}, and it holds other values`];
  });
}
