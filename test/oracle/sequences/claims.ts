import { type Account, type Box, type Deed, folded, plainId, type Value } from './box.ts';
import type { Line } from './events.ts';

/** The parts of the JSON of a line that make claims. */
export interface Said {
  readonly run?: string;
  readonly results?: readonly Result[];
  readonly errors?: readonly { readonly device?: string }[];
  readonly notCovered?: readonly { readonly device: string }[];
  readonly pending?: readonly {
    readonly id: string;
    readonly device: string;
    readonly change: string;
  }[];
  readonly changes?: readonly SaidChange[];
  readonly report?: { readonly changes: readonly SaidChange[] };
  readonly runs?: readonly { readonly run: string }[];
}

export interface Result {
  readonly device: string;
  readonly record?: Readonly<Record<string, unknown>>;
  readonly address: string;
  readonly key: string;
  readonly action: Deed['action'];
  readonly verdict: string;
  readonly error?: { readonly code: string };
}

export interface SaidChange {
  readonly device: string;
  /** Null for a change of a whole list. */
  readonly key: string | null;
  readonly id?: string | undefined;
  readonly author: string | null;
  readonly kind: string;
}

/** A line, and the state of the boxes when it began. */
export interface Begin {
  readonly line: Line;
  readonly boxes: ReadonlyMap<string, Box>;
  /** By address, which stays when a box gets another name. */
  readonly at: ReadonlyMap<string, Box>;
  readonly names: readonly string[];
  readonly accounts: ReadonlyMap<Box, readonly Account[]>;
  readonly down: ReadonlySet<Box>;
  /** Where the next write will not simply be carried out. */
  readonly fated: ReadonlySet<Box>;
  /** Whose reads did not show yet what they held. */
  readonly stale: ReadonlySet<Box>;
  /** How many deeds there were. */
  readonly deeds: number;
  /** The id that the line names. */
  readonly id: string | undefined;
  /** The password that it sets. */
  readonly secret: string;
  /** The run that it names. */
  readonly run: string | undefined;
  /** The line by which the newest plan file was made. */
  readonly plan: Begin | undefined;
}

/** A line that has ended. */
export interface Told extends Begin {
  /** Undefined if it was stopped. */
  readonly said: Said | undefined;
  /** The run that it began or continued. */
  readonly ran: string | undefined;
  /** Another line ran, or something happened, before it had ended. */
  readonly isDisturbed: boolean;
}

/** What a line writes: for a plan file, what the line wrote that made it. */
export function fieldsOf({ line, plan, secret }: Begin): Readonly<Record<string, Value>> {
  if (line.kind === 'apply') return plan === undefined ? {} : fieldsOf(plan);
  if ('fields' in line) return line.fields;
  if (line.kind === 'new name') return { username: line.to };
  if (line.kind === 'lockout') return { is_active: false };
  if (line.kind === 'rotate password') return { password: secret };
  if (line.kind === 'set id') return { lang: 'pt' };
  return line.kind === 'set where' ? { last_name: 'Where' } : {};
}

/** The name that a line is about; undefined if there is none, or more than one. */
export function keyOf({ line, plan }: Begin): string | undefined {
  if (line.kind === 'apply') return plan && keyOf(plan);
  return 'key' in line ? line.key : undefined;
}

export function isUndo({ kind }: Line): boolean {
  return kind === 'undo' || kind === 'undo RUN';
}

export function isResume({ kind }: Line): boolean {
  return kind.startsWith('resume');
}

export function isRaw({ kind }: Line): boolean {
  return kind.startsWith('raw');
}

/** Whether the account holds these values, shown or not. */
export function holds(account: Account, fields: Readonly<Record<string, Value>>): boolean {
  const held = { ...account.fields, ...account.secrets };
  return Object.entries(fields).every(([field, value]) => held[field] === value);
}

/** Writes that changed nothing, and accounts that were made twice, by what the box had shown before. */
export function needless(
  { line, boxes }: Begin,
  { box, action, before, after, shown }: Deed,
): string[] {
  const username = after?.fields['username'];
  if (action === 'add') {
    const isTwice = shown.some(({ fields }) => fields['username'] === username);
    if (!isTwice || isRaw(line)) return [];
    return [`DOUBLED: ${line.kind} made ${String(username)} again on ${box}`];
  }
  if (before === undefined || after === undefined) return [];
  const seen = shown.find(({ id }) => id === before.id) ?? before;
  const isSame = [before, seen].every((one) => JSON.stringify(one) === JSON.stringify(after));
  // Where devsh does not know the old password, it sets the kept one once more: no login is refused for it.
  const isKeptSecret = isResume(line) && after.secrets['password'] !== undefined;
  // The other box of a pair has done it already; or the box does not store what was to change.
  const isExcused = [...boxes.values()].some(
    (one) => one.name === box && (one.isPaired || /^(?:ignores|folds)$/.test(one.habit ?? '')),
  );
  return isSame && !isKeptSecret && !isExcused
    ? [`NEEDLESS: ${line.kind} changed nothing on ${box}`]
    : [];
}

/** Somebody may have renamed it since devsh read it. */
function isAbout({ before, after, shown }: Deed, key: string): boolean {
  const last = shown.find(({ id }) => id === before?.id);
  return [before, after, last].some((one) => one?.fields['username'] === key);
}

/** Verdicts that the boxes belie. @param deeds all of the time of the line */
export function falseClaims(told: Told, deeds: readonly Deed[], machine: Deed['by']): string[] {
  const { line, boxes, accounts, said, isDisturbed, stale } = told;
  const results = said?.results ?? [];
  return results.flatMap(({ device, key, verdict, action, error }) => {
    const box = boxes.get(device);
    if (box === undefined) return [`FALSE: ${device} is no name of a device`];
    // What reads of a late box show, only its next readings prove.
    const isLate = stale.has(box) || box.isStale;
    const named = box.named(key);
    const held = (accounts.get(box) ?? []).filter(({ fields }) => fields['username'] === key);
    const claim = `FALSE: ${action} ${key} on ${device} is "${verdict}"`;
    const here = deeds.filter((deed) => deed.box === box.name && isAbout(deed, key));
    const own = here.filter(({ by }) => by === machine);
    const isOther = own.some(({ before, shown }) => aimedAt(before, shown) !== before?.person);
    if (isOther && verdict === 'done' && !isLate) {
      return [`${claim}, and it hit another person in between`];
    }
    if (verdict === 'unchanged' && isNamedById(told, box) && !isLate) {
      return [`${claim}, and the record with that id is there`];
    }
    const isWay = isUndo(line) || isResume(line) || line.kind === 'restore';
    // Its twin may have done the same for this line; what is accepted and shown then is done, whoever wrote it there.
    const isByTwin = here.some(
      ({ by, cause, isOfTwin }) => by === 'side' && (cause === machine || isOfTwin === true),
    );
    const isOnce = results.filter((one) => one.device === device && one.key === key).length === 1;
    if (verdict === 'done' && own.length === 0 && !isByTwin && isOnce && !isWay && !isLate) {
      return [`${claim}, and devsh has changed nothing`];
    }
    const isThere = held.length > 0 && named.length > 0 && !isDisturbed && !isWay && !isLate;
    if (verdict === 'unchanged' && action === 'delete' && isThere && !isRaw(line)) {
      return [`${claim}, and it is there`];
    }
    if (held.length > 1 || (isDisturbed && here.length > 1)) return [];
    // A resume of several runs has a result of each.
    if (results.filter((one) => one.device === device && one.key === key).length > 1) return [];
    if (['failed', 'no effect', 'drift', 'skipped', 'unchanged'].includes(verdict)) {
      // What no answer refuses may show later, and devsh says so.
      const isUnanswered = /^(?:protocol|unreachable)$/.test(error?.code ?? '');
      // Without its 202, a box that defers is only late.
      const isLateOnly = box.habit === 'late' || (isUnanswered && box.habit === 'defers');
      if (isLateOnly && (verdict === 'no effect' || isUnanswered)) return [];
      const isChanged = own.some(
        ({ before, after }) =>
          before?.fields['username'] === key && JSON.stringify(before) !== JSON.stringify(after),
      );
      return isChanged && action !== 'add' && !isDisturbed
        ? [`${claim}, and devsh has changed it`]
        : [];
    }
    if (verdict !== 'done' || isUndo(line) || line.kind === 'restore' || isLate) return [];
    // One resume may delete a record and then make it again.
    const isMadeAgain = results.some((one) => one.key === key && one.action === 'add');
    if (action === 'delete') {
      return named.length === 0 || isMadeAgain ? [] : [`${claim}, and it is there`];
    }
    if (action === 'add') return named.length > 0 ? [] : [`${claim}, and it is not there`];
    if (isResume(line) || line.kind === 'new name') return [];
    const wanted = fieldsOf(told);
    return named.some((one) => holds(one, box.habit === 'folds' ? folded(wanted) : wanted))
      ? []
      : [`${claim}, and it holds other values`];
  });
}

/** Whether a record with the id that the line deletes was there, and still is. */
function isNamedById({ line, id, accounts, isDisturbed }: Told, box: Box): boolean {
  if (line.kind !== 'delete id' || id === undefined || isDisturbed) return false;
  const isIt = (one: Account): boolean => plainId(one.id) === plainId(id);
  return (accounts.get(box) ?? []).some(isIt) && box.accounts.some(isIt);
}

/** Whose account devsh took it for, by what the box had shown last. */
export function aimedAt(before: Account | undefined, shown: readonly Account[]) {
  return (shown.find(({ id }) => id === before?.id) ?? before)?.person;
}
