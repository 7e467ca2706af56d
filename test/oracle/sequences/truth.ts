import { type Account, type Box, type Deed, type Machine, plainId, type Value } from './box.ts';
import {
  aimedAt,
  type Begin,
  falseClaims,
  fieldsOf,
  holds,
  isRaw,
  isResume,
  isUndo,
  keyOf,
  needless,
  type Said,
  type SaidChange,
  type Told,
} from './claims.ts';

/** What a line wanted of one key: whom it was about where it was read, and where it is still to be done. */
interface Intent {
  readonly run: string | undefined;
  readonly action: Deed['action'];
  readonly key: string;
  /** The values that it writes. */
  readonly fields: Readonly<Record<string, Value>>;
  readonly kind: 'lockout' | 'rotate password' | 'rotate token' | 'plain';
  /** A row of a file makes the account where it is missing. */
  readonly mayAdd?: boolean;
  /** The filter by which the key was found: the lang that the account must have. */
  readonly lang?: string | undefined;
  /** The persons on each box; undefined: the box was not read. */
  readonly persons: Map<Box, ReadonlySet<string> | undefined>;
  readonly pending: Set<Box>;
  /** Where it may still be to be done: devsh may go on with it, and need not. */
  readonly open: Set<Box>;
}

/**
 * What really is, and what devsh on one machine may do and say: an independent model. It knows the person behind each
 * account, which no device shows.
 */
export class Truth {
  /** When it was as at first; devsh may have read it by then. */
  startedAt = new Date().toISOString();
  readonly #machine: Machine;
  readonly #deeds: readonly Deed[];
  /** Sent by raw requests whose effect devsh did not know: its changes are unclear. */
  readonly #raw = new Set<Deed>();
  /** Of two lines at the same time, one of them raw, and of raw requests with a journal. */
  readonly #unsure = new Set<Deed>();
  readonly #byRun = new Map<string, Deed[]>();
  readonly #first = new Map<Box, readonly Account[]>();
  readonly #intents: Intent[] = [];
  /** What devsh may have read of each box last. */
  readonly #seen = new Map<Box, readonly Account[]>();
  /** Names do not always stand for the same box. */
  #hasMoved = false;
  #hasReplaced = false;
  /** Where devsh cannot know that an effect may still show: the user dropped the request, or nothing answered it. */
  readonly #unsettled = new Set<Box>();

  constructor(machine: Machine, boxes: readonly Box[]) {
    this.#machine = machine;
    this.#deeds = boxes[0]?.deeds ?? [];
    for (const box of boxes) this.#first.set(box, box.accounts);
  }

  /** A box that takes the place of another one. */
  know(box: Box): void {
    this.#first.set(box, box.accounts);
    this.#hasMoved = true;
    this.#hasReplaced = true;
  }

  /** devsh has read all boxes before anything happened. */
  hasRead(boxes: readonly Box[]): void {
    for (const box of boxes) this.saw(box);
    this.startedAt = new Date().toISOString();
  }

  /** devsh has read a box. Of a name that is gone with its record, it remembers who had it last. */
  saw(box: Box): void {
    if (box.isDown) return;
    const isThere = ({ id, fields }: Account): boolean =>
      box.accounts.some((one) => one.id === id || one.fields['username'] === fields['username']);
    const gone = (this.#seen.get(box) ?? []).filter((one) => !isThere(one));
    this.#seen.set(box, [...gone, ...box.accounts]);
  }

  moved(): void {
    this.#hasMoved = true;
  }

  begin(
    line: Pick<Begin, 'line' | 'names' | 'id' | 'secret' | 'run' | 'plan' | 'boxes' | 'at'>,
  ): Begin {
    const all = [...line.boxes.values()];
    return {
      ...line,
      deeds: this.#deeds.length,
      accounts: new Map(all.map((box) => [box, box.known])),
      down: new Set(all.filter(({ isDown }) => isDown)),
      fated: new Set(all.filter(({ fate, habit }) => fate !== 'carry out' || habit !== undefined)),
      stale: new Set(all.filter(({ isStale }) => isStale)),
    };
  }

  /** What was wrong about lines that ran at the same time: their deeds, their claims, and what is said after them. */
  judge(given: readonly Told[], pending: Said, changes: Said): readonly string[] {
    const ended = given.map((told) => this.#widened(told));
    const [first] = ended;
    if (first === undefined) return [];
    const all = this.#deeds.slice(first.deeds);
    const deeds = all.filter(({ by }) => by === this.#machine);
    const faults = deeds.flatMap((deed) => [
      ...shared(ended.map((told) => this.#wrongPerson(told, deed))),
      ...shared(ended.map((told) => needless(told, deed))),
    ]);
    const isUnsure = ended.length > 1 && ended.some(({ line }) => isRaw(line));
    for (const deed of isUnsure ? deeds : []) this.#unsure.add(deed);
    for (const told of ended) {
      faults.push(...falseClaims(told, all, this.#machine), ...this.#falseWaysBack(told));
      if (ended.length === 1) {
        faults.push(...this.#missed(told));
        this.#file(told, deeds);
      }
      this.#remember(told);
      this.#see(told);
    }
    return [...faults, ...this.#lost(first, pending), ...this.falseAuthors(first, changes.changes)];
  }

  /** With everything that was so at some time while it ran. */
  #widened(told: Told): Told {
    if (!told.isDisturbed) return told;
    const deeds = this.#deeds.slice(told.deeds);
    const widened = [...told.accounts].map(([box, held]) => {
      const here = deeds.filter((deed) => deed.box === box.name);
      const more = here.flatMap(({ before, after }) => [before ?? [], after ?? []].flat());
      return [box, [...held, ...more]] as const;
    });
    return { ...told, accounts: new Map(widened) };
  }

  #see({ names, boxes, down, line, said, isDisturbed, accounts }: Told): void {
    const isSure = said !== undefined && !isDisturbed && !isResume(line) && !isUndo(line);
    for (const name of names) {
      const box = boxes.get(name);
      if (box === undefined || down.has(box)) continue;
      const older = [...(this.#seen.get(box) ?? []), ...(accounts.get(box) ?? [])];
      if (!isSure) this.#seen.set(box, [...older, ...box.accounts]);
      else this.saw(box);
    }
  }

  /** Keeps which run did what. */
  #file({ line, ran }: Told, deeds: readonly Deed[]): void {
    // A request as typed may do something else than the step that devsh took it for.
    if (isRaw(line))
      for (const deed of deeds) (ran === undefined ? this.#raw : this.#unsure).add(deed);
    // A resume without an id may continue several runs.
    const runs = new Set(
      this.#intents.flatMap(({ run, open }) => (open.size > 0 ? (run ?? []) : [])),
    );
    if (ran === undefined || (line.kind === 'resume' && runs.size > 1)) return;
    this.#byRun.set(ran, [...(this.#byRun.get(ran) ?? []), ...deeds]);
  }

  #wrongPerson(told: Told, { box: name, before, after, action, shown }: Deed): string[] {
    const box = [...told.boxes.values()].find((one) => one.name === name);
    if (box === undefined) return [];
    if (before === undefined) return this.#unwantedAdd(told, box, after);
    const person = isRaw(told.line) ? before.person : (aimedAt(before, shown) ?? '');
    const seen = shown.find(({ id }) => id === before.id) ?? before;
    const allowed = this.#allowed(told, box, seen, action);
    if (allowed.has(person)) return [];
    const who = [...allowed].join(' or ') || 'nobody';
    return [`WRONG PERSON: ${told.line.kind} ${action} hit ${person} on ${name}; it may be ${who}`];
  }

  /** What is continued makes only accounts that are still wanted. */
  #unwantedAdd({ line }: Told, box: Box, made: Account | undefined): string[] {
    const name = String(made?.fields['username']);
    const isWanted = this.#intents.some(
      ({ action, mayAdd, key, pending, open }) =>
        (action === 'add' || mayAdd) &&
        ['', name].includes(key) &&
        (pending.has(box) || open.has(box)),
    );
    return isWanted || !isResume(line)
      ? []
      : [`UNWANTED: ${line.kind} made ${name} on ${box.name}, which nothing wants any more`];
  }

  /** The persons whose account a line may write to on a box. */
  #allowed(begin: Begin, box: Box, before: Account, action: Deed['action']): ReadonlySet<string> {
    const { line, accounts, boxes } = begin;
    const held = accounts.get(box) ?? [];
    // What the user has said yes to.
    const also = 'also' in line ? line.also : undefined;
    const isAgreed = also && [...boxes.values()][also.box % boxes.size] === box;
    const agreed = isAgreed ? held.filter(({ fields }) => fields['username'] === also.key) : [];
    if (line.kind === 'apply') {
      const made = begin.plan && this.#intentOf(begin.plan, keyOf(begin) ?? '');
      return made === undefined ? new Set() : personsIn(made, box);
    }
    if (line.kind === 'set where') {
      return personsOf(held.filter(({ fields }) => fields['lang'] === line.lang));
    }
    if (isResume(line)) {
      const intents = this.#intents.filter(
        (intent) =>
          (intent.pending.has(box) || intent.open.has(box)) &&
          (intent.kind === 'lockout' || intent.action === action) &&
          (intent.lang === undefined || before.fields['lang'] === intent.lang),
      );
      const meant = intents.flatMap((intent) => [...personsIn(intent, box)]);
      return new Set([...personsOf(agreed), ...meant]);
    }
    if (isUndo(line) || line.kind === 'restore') {
      return new Set([...this.#meantBy(begin, box), ...personsOf(agreed)]);
    }
    if (line.kind === 'plan' || !('key' in line)) return new Set();
    return personsOf(held.filter((one) => isCalled(begin, one, line.key)));
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
    // A pair holds what was written to either of both.
    const isOwn = ({ by, cause, isOfTwin }: Deed): boolean =>
      (isOfTwin === true ? cause : by) === this.#machine;
    const touched = earlier.filter(
      (deed) => isOwn(deed) && deed.box === box.name && !this.#raw.has(deed),
    );
    return personsOf(touched.flatMap((deed) => [deed.before ?? [], deed.after ?? []].flat()));
  }

  /** An undo is not done as long as somebody whom devsh deleted under that key is missing. */
  #falseWaysBack({ line, boxes, deeds, said }: Told): string[] {
    if (!isUndo(line)) return [];
    return (said?.results ?? []).flatMap(({ device, key, action, verdict }) => {
      const box = boxes.get(device);
      if (box === undefined || action !== 'add' || !/^(?:done|unchanged|differs)$/.test(verdict))
        return [];
      if (this.#unsettled.has(box) && box.isStale) return [];
      const deleted = this.#deeds
        .slice(0, deeds)
        .findLast(
          (one) =>
            one.box === box.name &&
            one.by === this.#machine &&
            one.action === 'delete' &&
            one.before?.fields['username'] === key &&
            !this.#raw.has(one),
        );
      const { person = '', fields } = deleted?.before ?? {};
      // An account that a restore had made into that of another person comes back as that one's.
      const isBack =
        deleted === undefined ||
        box.accounts.some(
          (one) => one.person === person || one.fields['email'] === fields?.['email'],
        );
      return isBack
        ? []
        : [`FALSE: undo of ${key} on ${device} is "${verdict}"; ${person} is missing`];
    });
  }

  /** An undo of a run says something of each box that the run has changed. */
  #missed({ line, boxes, run, said }: Told): string[] {
    if (line.kind !== 'undo RUN' || said?.results === undefined || this.#hasMoved) return [];
    const { results, errors = [], notCovered = [] } = said;
    const named = new Set([...results, ...errors, ...notCovered].map(({ device }) => device));
    const changed = new Set(this.#byRun.get(run ?? '')?.map(({ box }) => box));
    return [...boxes].flatMap(([name, box]) =>
      changed.has(box.name) && !named.has(name)
        ? [`MISSED: ${line.kind} says nothing of ${name}, which the run has changed`]
        : [],
    );
  }

  /** What a line wants of one key. */
  #intentOf(begin: Begin, key: string): Intent {
    const { line, names, boxes, down, accounts } = begin;
    const over = names.flatMap((name) => boxes.get(name) ?? []);
    const persons = new Map(
      over.map((box) => {
        const held = down.has(box) ? this.#seen.get(box) : accounts.get(box);
        const named = held?.filter((one) =>
          begin.id === undefined
            ? [one.id, one.fields['username']].includes(key)
            : plainId(one.id) === plainId(begin.id),
        );
        return [box, named && personsOf(named)] as const;
      }),
    );
    const { kind } = line;
    const isDelete = kind === 'delete' || kind === 'delete id';
    const isOfOwnKind = kind === 'lockout' || kind === 'rotate password' || kind === 'rotate token';
    return {
      run: undefined,
      action: kind === 'add' ? 'add' : isDelete ? 'delete' : 'set',
      key,
      fields: fieldsOf(begin),
      kind: isOfOwnKind ? kind : 'plain',
      mayAdd: kind === 'set' && line.way?.startsWith('import') === true,
      lang: kind === 'set where' ? line.lang : undefined,
      persons,
      ...{ pending: new Set(), open: new Set() },
    };
  }

  /** Keeps what the line wanted, and what it left or settled. */
  #remember(told: Told): void {
    const { line, ran, boxes, said } = told;
    for (const { device, error } of said?.results ?? []) {
      const box = error?.code === 'unreachable' ? boxes.get(device) : undefined;
      if (box !== undefined) this.#unsettled.add(box);
    }
    if (line.kind === 'plan') return;
    if (isRaw(line)) {
      this.#rememberRaw(told);
      return;
    }
    if (line.kind === 'drop') {
      for (const { run, pending, open } of this.#intents) {
        if (run !== told.run) continue;
        for (const box of open) this.#unsettled.add(box);
        pending.clear();
      }
    } else if (isUndo(line) || line.kind === 'restore') {
      this.#rememberWayBack(told);
    } else if (isResume(line)) {
      this.#rememberResume(told);
    } else if (ran !== undefined) {
      this.#rememberFresh(told, ran);
    }
  }

  /** What it replaces is not modelled: nothing older is expected on its boxes any more, and what it left may be done. */
  #rememberRaw(told: Told): void {
    const { ran, accounts, names, boxes } = told;
    const over = new Set(names.flatMap((name) => boxes.get(name) ?? []));
    for (const { pending } of this.#intents) for (const box of over) pending.delete(box);
    const key = keyOf(told) ?? '';
    const persons = new Map(
      [...over].map((box) => {
        const held = accounts.get(box) ?? [];
        return [box, personsOf(held.filter((one) => isCalled(told, one, key)))] as const;
      }),
    );
    for (const action of ['add', 'set', 'delete'] as const) {
      this.#intents.push({
        // Its fields are not modelled: no newer line covers them.
        ...{ run: ran, action, key, fields: { '?': '' }, kind: 'plain' },
        ...{ persons, pending: new Set(), open: over },
      });
    }
  }

  #rememberWayBack(told: Told): void {
    const { boxes, ran, said } = told;
    // What these cancel is not modelled: nothing is expected of older intents any more.
    for (const { pending, open, persons } of ran === undefined ? [] : this.#intents) {
      pending.clear();
      for (const box of persons.keys()) open.add(box);
    }
    // What was asked about, had drifted or failed stays to be done.
    for (const [device, box] of boxes) {
      const persons = new Map([[box, this.#meantBy(told, box)]]);
      const left = said?.results?.filter(
        (one) => one.device === device && one.verdict !== 'done' && one.verdict !== 'unchanged',
      );
      const unknown = (['add', 'set', 'delete'] as const).map((action) => ({ action, key: '' }));
      for (const { action, key } of left ?? unknown) {
        this.#intents.push({
          ...{ run: ran, action, key, fields: {}, kind: 'plain' },
          ...{ persons, pending: new Set(), open: new Set([box]) },
        });
      }
    }
  }

  #rememberResume({ line, at, said, fated, isDisturbed }: Told): void {
    if (said === undefined || isDisturbed) {
      for (const intent of this.#intents) {
        for (const box of intent.pending) {
          if (isDisturbed || fated.has(box) || isDone(intent, box)) intent.pending.delete(box);
        }
      }
    }
    for (const { address, key, verdict, action } of said?.results ?? []) {
      if (verdict === 'drift' || verdict === 'skipped') continue;
      const box = at.get(address);
      // A step of the same line may have given the account its new name before.
      const renamed = said?.results?.find(
        (one) => one.address === address && one.key !== key && one.record?.['username'] === key,
      );
      for (const intent of this.#intents) {
        if (box === undefined) continue;
        // The user has taken a record of another name for the one that is meant.
        const isAgreed = 'also' in line && line.also?.key === key;
        if (isAgreed) intent.pending.delete(box);
        if (![key, renamed?.key].includes(intent.key)) continue;
        // Another intent for the same account may be what was settled.
        const isOneOfTwo = action === 'delete' && intent.action === 'delete';
        if (verdict === 'done' && !isOneOfTwo && !isDone({ ...intent, key }, box)) continue;
        intent.pending.delete(box);
        if (verdict === 'done' || verdict === 'unchanged') intent.open.delete(box);
      }
    }
  }

  #rememberFresh(told: Told, ran: string): void {
    const { line, boxes, names, down, said, isDisturbed } = told;
    const results = said?.results ?? [];
    // A plan file is about the boxes of the line that made it.
    const named = line.kind === 'apply' ? (told.plan?.names ?? []) : names;
    const over = named.flatMap((name) => boxes.get(name) ?? []);
    // A box that was not read has the filter for a key.
    const found = results.filter(({ key }) => !key.includes('='));
    const own = keyOf(told);
    // Of a process that was stopped nobody knows which records its filter found.
    const held = [...told.accounts.values()].flat().map((one) => String(one.fields['username']));
    const shown = said === undefined ? held : found.map(({ key }) => key);
    const keys = own === undefined ? [...new Set(shown)] : [own];
    for (const key of keys) {
      const resultOn = (box: Box) =>
        results.find((one) => boxes.get(one.device) === box && one.key === key);
      const isGood = (box: Box): boolean =>
        ['done', 'unchanged'].includes(resultOn(box)?.verdict ?? '');
      const made = this.#intentOf(line.kind === 'apply' ? (told.plan ?? told) : told, key);
      const intent = {
        ...{ ...made, run: ran },
        open: new Set(over.filter((box) => !isGood(box))),
        pending: new Set(isDisturbed ? [] : over.filter((box) => this.#isLeft(told, made, box))),
      };
      for (const older of this.#intents) {
        for (const box of over) {
          const isCounted = down.has(box) || isGood(box);
          // What is not certain is not expected.
          const isLeft =
            said === undefined ||
            isDisturbed ||
            (results.some((one) => boxes.get(one.device) === box) && !isCounted);
          const isRenamed = line.kind === 'new name' && [line.key, line.to].includes(older.key);
          const isById = told.id !== undefined;
          // A row of a file that has made the account replaces as an add does.
          const done = { ...intent, action: resultOn(box)?.action ?? intent.action };
          if ((isCounted && replaces(done, older)) || isLeft || isRenamed || isById) {
            older.pending.delete(box);
          }
          // Where nothing was known of it, a newer line shows whom the key means.
          const shownNow = [...(made.persons.get(box) ?? [])];
          const isShown = isGood(box) && older.key === key && shownNow.length > 0;
          if (isShown && personsIn(older, box).size === 0)
            older.persons.set(box, new Set(shownNow));
          // What a newer line has done, or found done, is not done by an older one any more.
          if (isGood(box) && !isById && replaces(done, older)) older.open.delete(box);
        }
      }
      this.#intents.push(intent);
    }
  }

  /** Whether the line has certainly left this to do on the box. */
  #isLeft(told: Told, { action, fields }: Intent, box: Box) {
    const { line, down, said, accounts, deeds, plan } = told;
    // Older work follows the record to its new name: none is expected under the old one.
    if (line.kind === 'new name' || 'spelling' in line || line.kind === 'rotate token')
      return false;
    // A rotation with nothing to do on the boxes that answer keeps no new secret.
    if (line.kind === 'rotate password' && !isHeldByOne(told, line.key)) return false;
    if (line.kind === 'apply') return down.has(box) && plan?.down.has(box) === true;
    if (down.has(box)) return said !== undefined;
    if (said !== undefined || line.kind !== 'set' || line.way?.startsWith('import')) return false;
    // The process was stopped: once it has sent anything, its whole plan is in the journal.
    const sent = this.#deeds.slice(deeds);
    const named = (accounts.get(box) ?? []).filter((one) => one.fields['username'] === line.key);
    const isToDo =
      action === 'set' && named.length === 1 && !named.some((one) => holds(one, fields));
    // A box that refused it, or lost it, has no deed either.
    const isAsked = told.fated.has(box) || sent.some((deed) => deed.box === box.name);
    return isToDo && sent.length > 0 && !isAsked;
  }

  /** Work that is still to be done and that devsh no longer lists. */
  #lost({ boxes }: Begin, { pending: listed = [] }: Said): string[] {
    if (this.#hasReplaced) return [];
    return this.#intents.flatMap(({ pending, key, action }) =>
      [...pending].flatMap((box) => {
        const name = [...boxes].find(([, one]) => one === box)?.[0] ?? '';
        const isListed = listed.some(
          ({ device, change }) =>
            (this.#hasMoved || device === name) && (change.includes(key) || /import/.test(change)),
        );
        return isListed ? [] : [`LOST: ${action} ${key} on ${name} is pending, and is not listed`];
      }),
    );
  }

  falseAuthors({ boxes }: Pick<Begin, 'boxes'>, changes: readonly SaidChange[] = []): string[] {
    if (this.#hasMoved) return [];
    return changes.flatMap((change) => {
      const { device, key: numbered, id, author, kind } = change;
      // The second of two of one name is `ann#2`.
      const key = numbered?.replace(/#\d+$/, '');
      if (key === undefined) return [];
      const { name: box, forgotten = [] } = boxes.get(device) ?? {};
      const isGone = this.#deeds.some(
        ({ box: name, action, before, after }) =>
          (action === 'delete' || before?.fields['username'] !== after?.fields['username']) &&
          name === box &&
          before?.fields['username'] === key,
      );
      if (kind === 'gone' && !isGone) return [`FALSE GONE: ${key} on ${device} never went`];
      if (author !== 'run' && author !== 'other') return [];
      const isSo = this.#deeds.some((deed) => {
        const isOwn = deed.by === this.#machine;
        const { before, after, shown: read } = deed;
        // Somebody may have renamed it since devsh read it.
        const last = read.find(({ id }) => id === before?.id);
        // Or after it was written, and before it was read again: the change has its id.
        const isNamed = [before, after, last].some(
          (one) => one?.fields['username'] === key || (id !== undefined && one?.id === id),
        );
        // A run that wrote the same to one of a pair cannot tell who wrote it.
        const isByPair = deed.isOfTwin === true;
        // Exactly what was sent, and shows later, is by its run.
        const isSent = forgotten.some((fields) => after !== undefined && holds(after, fields));
        const isAuthor =
          (isSent && author === 'run') ||
          this.#unsure.has(deed) ||
          (isByPair && author === 'run') ||
          (!this.#raw.has(deed) && deed.cause !== this.#machine && isOwn === (author === 'run'));
        return deed.box === box && isNamed && isAuthor;
      });
      const what = `FALSE AUTHOR: ${key} on ${device} is said to be changed by ${author}`;
      return isSo ? [] : [`${what}: ${JSON.stringify(change)}`];
    });
  }
}

/** What all of them say: lines that ran at the same time share their deeds. */
function shared(faults: readonly string[][]): string[] {
  return faults.every((one) => one.length > 0) ? (faults[0] ?? []) : [];
}

/** Whether a box of the line that answers has the account: of two with one name a rotation takes neither. */
function isHeldByOne({ names, boxes, down, accounts }: Begin, key: string): boolean {
  const over = names.flatMap((name) => boxes.get(name) ?? []).filter((box) => !down.has(box));
  const isKey = (one: Account): boolean => one.fields['username'] === key;
  return over.some((box) => accounts.get(box)?.filter(isKey).length === 1);
}

/** A key has one meaning for the whole line: a name, or else an id. */
function isCalled({ names, accounts, boxes, id }: Begin, account: Account, key: string): boolean {
  if (id !== undefined) return plainId(account.id) === plainId(id);
  const over = names.flatMap((name) => {
    const box = boxes.get(name);
    return (box && accounts.get(box)) ?? [];
  });
  const isName = over.some((one) => one.fields['username'] === key);
  return isName ? account.fields['username'] === key : account.id === key;
}

/** On a box that was not read it is whom the others had under that key. */
function personsIn({ persons }: Intent, box: Box): ReadonlySet<string> {
  return persons.get(box) ?? new Set([...persons.values()].flatMap((one) => [...(one ?? [])]));
}

function isDone({ action, key, fields, kind }: Intent, box: Box): boolean {
  const named = box.named(key);
  if (action !== 'set') return action === 'delete' ? named.length === 0 : named.length > 0;
  if (kind === 'rotate token') return named.some(({ secrets }) => secrets['token'] !== undefined);
  return named.some((one) => holds(one, fields));
}

function replaces(newer: Intent, older: Intent): boolean {
  if (newer.key !== older.key) return false;
  if (newer.action === 'delete') return true;
  if (newer.kind === 'lockout') return older.action !== 'delete';
  if (newer.action === 'add') return true;
  const isRotation = [newer, older].some(({ kind }) => kind.startsWith('rotate'));
  if (isRotation) return newer.kind === older.kind;
  const isCovered = Object.keys(older.fields).every((field) => Object.hasOwn(newer.fields, field));
  return older.action === 'set' && older.kind !== 'lockout' && isCovered;
}

function personsOf(accounts: readonly Account[]): ReadonlySet<string> {
  return new Set(accounts.map(({ person }) => person));
}
