import type { Run } from '../main/devsh.ts';
import type { Line } from './cases.ts';
import type { Records, Json, JsonObject, Model, Recorded } from './model-device.ts';

/** The observation of one device while one line ran. */
export interface DeviceObservation {
  readonly name: string;
  /** It was unreachable when the line began. */
  readonly isAbsent: boolean;
  /** It has reported its fields. */
  readonly hasTold: boolean;
  /** It executed a write and has been unreachable since. */
  readonly isLost: boolean;
  readonly before: Records;
  readonly after: Records;
  readonly writes: readonly Recorded[];
  /** A record as this device shows it. */
  readonly shown: (id: string, record: JsonObject) => JsonObject;
}

/** One line: the plan, the reported results, and the real effects. */
export interface Execution {
  readonly line: Line;
  readonly plan: Run;
  readonly real: Run;
  readonly isJson: boolean;
  readonly devices: readonly DeviceObservation[];
}

type Leaves = ReadonlyMap<string, Json>;

/** `{limits: {depth: 4}}` as `limits.depth` 4; lists are whole. */
export function leavesOf(record: JsonObject | undefined, above = ''): Leaves {
  const leaves = new Map<string, Json>();
  for (const [name, value] of Object.entries(record ?? {})) {
    const path = above + name;
    if (isObject(value))
      for (const [part, leaf] of leavesOf(value, `${path}.`)) leaves.set(part, leaf);
    else leaves.set(path, value);
  }
  return leaves;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as in a form. */
function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map((item) => textOf(item as Json)).join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Null, empty text, empty list and absent are four things; anything else is compared as in a form. */
const isSame = (one: Json | undefined, other: Json | undefined): boolean =>
  textOf(one) === textOf(other) && (textOf(one) !== '' || kindOf(one) === kindOf(other));

/** The same in a body: a form has no null. */
const isWritten = (one: Json | undefined, other: Json | undefined): boolean =>
  textOf(one) === textOf(other);

function kindOf(value: Json | undefined): string {
  return value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
}

/** A value whose loss does not matter. */
const isEmpty = (value: Json | undefined): boolean => ['', 'false', '0'].includes(textOf(value));

/** The output of a plan without how it sends: "devsh assumes, without documentation: DELETE /api/user/<id>/". */
export function announced({ stdout, stderr }: Pick<Run, 'stdout' | 'stderr'>): string {
  // Constant words, independent of the names of fields.
  return `${stdout}\n${stderr}`.replace(/^devsh assumes, .*$|\(such as a password\)/gm, '');
}

/** Whether a text names a field, alone or with one of its parts. */
export function names(output: string, field: string): boolean {
  const [top = field] = field.split('.');
  return new RegExp(`(?<![\\w-])${top}(?![\\w-])`).test(output);
}

/** The intended change of one user; undefined if the line does not concern it. */
interface Intent {
  readonly typed: Leaves;
  readonly isDeleting: boolean;
}

function wishFor(line: Line, username: string, shown: JsonObject | undefined): Intent | undefined {
  const typed = (fields: JsonObject): Intent => ({ typed: leavesOf(fields), isDeleting: false });
  switch (line.kind) {
    case 'add':
    case 'set':
      return line.key === username ? typed(line.typed) : undefined;
    case 'set where':
      return shown?.['lang'] === line.lang ? typed(line.typed) : undefined;
    case 'delete':
      return line.key === username ? { typed: new Map(), isDeleting: true } : undefined;
    case 'import': {
      const row = line.rows.find(({ key }) => key === username);
      if (row !== undefined) return typed(row.values);
      return line.isPruning ? { typed: new Map(), isDeleting: true } : undefined;
    }
    case 'undo':
    case 'read':
      return undefined;
  }
}

const usernameOf = (record: JsonObject | undefined): string => textOf(record?.['username']);

const named = (stored: Records, username: string): [string, JsonObject] | undefined =>
  [...stored].find(([, record]) => usernameOf(record) === username);

/** The admission that hidden fields are unknown. */
const ADMITTED = /may erase fields that it does not show|hidden fields/;

/** Judges each line of devsh by the devices alone. */
export class Judge {
  readonly model: Model;
  readonly #ended: Execution[] = [];
  /** Hidden fields that devsh has sent, by device: `oslo quota`. */
  readonly #sent = new Set<string>();

  constructor(model: Model) {
    this.model = model;
  }

  /** devsh warns once that hidden fields may be lost. */
  #hasAdmitted = false;

  /** The faults of one line. */
  judge(execution: Execution): string[] {
    const undone = execution.line.kind === 'undo' ? this.#undone() : undefined;
    const faults = [
      ...execution.devices.flatMap((device) => this.#writesOf(execution, device, undone)),
      ...execution.devices.flatMap((device) => this.#lossesOf(execution, device)),
      ...this.#unnamed(execution, undone),
      ...this.#verdicts(execution, undone),
    ];
    if (undone !== undefined) faults.push(...this.#undoing(execution, undone));
    this.#ended.push(execution);
    this.#hasAdmitted ||= ADMITTED.test(announced(execution.plan));
    for (const { name, writes } of execution.devices) {
      for (const { contentType, body } of writes) {
        for (const path of bodyLeaves(contentType, body).keys()) this.#sent.add(`${name} ${path}`);
      }
    }
    return faults;
  }

  /** The newest line that changed something. */
  #undone(): Execution | undefined {
    return this.#ended.findLast(({ devices }) =>
      devices.some(({ before, after }) => before !== after),
    );
  }

  /** Each field of a body was typed, is in the stored record, or is in the plan as filled in. */
  #writesOf(
    execution: Execution,
    device: DeviceObservation,
    undone: Execution | undefined,
  ): string[] {
    const { plan, line } = execution;
    const earlier = undone?.devices.find(({ name }) => name === device.name);
    return device.writes.flatMap((write): string[] => {
      const where = `${device.name}: ${write.method} ${write.path}`;
      const target = this.#targetOf(write);
      const stored =
        target === undefined ? undefined : device.shown(target, write.before.get(target) ?? {});
      const sent = bodyLeaves(write.contentType, write.body);
      const username = stored === undefined ? textOf(sent.get('username')) : usernameOf(stored);
      const wish = wishFor(line, username, stored);
      if (line.kind !== 'undo' && wish === undefined) {
        return [`${where}: is about ${username}, whom nobody named`];
      }
      if ((write.method === 'DELETE') !== (wish?.isDeleting ?? write.method === 'DELETE')) {
        return [`${where}: ${username} was not to be treated so`];
      }
      const isWhole = this.model.way !== 'JSON PATCH' && stored !== undefined;
      const before = earlier && named(earlier.before, username);
      const image = before && leavesOf(device.shown(...before));
      return [...sent].flatMap(([path, value]): string[] => {
        if (path === this.model.idField && ['', 'null', target].includes(textOf(value))) return [];
        if (path === 'username' && textOf(value) === username) return [];
        if (wish?.typed.has(path) === true) {
          const typed = wish.typed.get(path);
          return isWritten(typed, value)
            ? []
            : [`${where}: ${path}=${textOf(value)}, typed ${textOf(typed)}`];
        }
        const isStored = leavesOf(stored).has(path) && isWritten(leavesOf(stored).get(path), value);
        // A part of a nested field is sent with the other parts.
        const [top = path] = path.split('.');
        const isBeside = [...(wish?.typed.keys() ?? [])].some((one) => one.startsWith(`${top}.`));
        if (isStored && (isWhole || isBeside)) return [];
        if (image?.has(path) === true && isWritten(image.get(path), value)) return [];
        if (isFilledIn(plan.stdout, path)) return [];
        return [
          `${where}: sends ${path}=${textOf(value)}: not typed, not held, not named as filled in`,
        ];
      });
    });
  }

  #targetOf({ method, path, contentType, body, before }: Recorded): string | undefined {
    const inPath = path.replace(/^\/api\/user\//, '').replace(/\/$/, '');
    if (inPath !== '') return inPath;
    const id = textOf(bodyLeaves(contentType, body).get(this.model.idField));
    return method === 'POST' && before.has(id) ? id : undefined;
  }

  /** The plan names all unrequested losses and additions. */
  #lossesOf(execution: Execution, device: DeviceObservation): string[] {
    if (device.before === device.after || execution.line.kind === 'undo') return [];
    const output = announced(execution.plan);
    const faults: string[] = [];
    for (const [id, record] of device.before) {
      const username = usernameOf(record);
      const now = device.after.get(id);
      const wish = wishFor(execution.line, username, device.shown(id, record));
      if (now === undefined) {
        if (wish?.isDeleting !== true) faults.push(`${device.name}: ${username} is gone`);
        else if (!names(output, username)) faults.push(`${device.name}: ${username} goes unsaid`);
        if (!names(output, this.model.idField)) {
          faults.push(
            `${device.name}: no word that the ${this.model.idField} of ${username} is lost`,
          );
        }
        for (const [path, value] of leavesOf(record)) {
          if (isEmpty(value) || this.#comesBack(path, device)) continue;
          if (!this.#isSaid(output, path, device)) {
            faults.push(
              `${device.name}: no word that ${path}=${textOf(value)} of ${username} is lost`,
            );
          }
        }
        continue;
      }
      const [stored, left] = [leavesOf(record), leavesOf(now)];
      for (const path of new Set([...stored.keys(), ...left.keys()])) {
        if (isSame(stored.get(path), left.get(path)) || wish?.typed.has(path) === true) continue;
        if (!this.#isSaid(output, path, device)) {
          const change = `${textOf(stored.get(path))} -> ${textOf(left.get(path))}`;
          faults.push(
            `${device.name}: ${username} ${path}: ${change}, and the plan says nothing of it`,
          );
        }
      }
    }
    return faults;
  }

  /** Whether adding a deleted record again restores a field, as far as devsh can know. */
  #comesBack(path: string, { hasTold }: DeviceObservation): boolean {
    const field = this.model.fields.find(({ name }) => name === path.split('.')[0]);
    if (field === undefined || field.name === 'password') return field === undefined;
    return field.access === 'open' || (field.access === 'read-only' && !hasTold);
  }

  #isSaid(output: string, path: string, { name: device, hasTold }: DeviceObservation): boolean {
    if (names(output, path)) return true;
    const field = this.model.fields.find(({ name }) => name === path.split('.')[0]);
    const isUnknown =
      field?.access === 'hidden' && !hasTold && !this.#sent.has(`${device} ${path}`);
    return isUnknown && (ADMITTED.test(output) || this.#hasAdmitted);
  }

  /** After an undo: the plan names what is not restored, and its verdict is not `done`. */
  #undoing(execution: Execution, undone: Execution): string[] {
    const output = announced(execution.plan);
    return execution.devices.flatMap((device): string[] => {
      const earlier = undone.devices.find(({ name }) => name === device.name);
      if (earlier === undefined || earlier.before === earlier.after || device.isAbsent) return [];
      return [...earlier.before].flatMap(([id, record]): string[] => {
        const username = usernameOf(record);
        const now = device.after.get(id) ?? named(device.after, username)?.[1];
        if (now === undefined) {
          return execution.real.exitCode === 0
            ? [`${device.name}: undo left ${username} deleted`]
            : [];
        }
        const [was, is] = [leavesOf(record), leavesOf(now)];
        return [...was].flatMap(([path, value]): string[] => {
          const isShown = leavesOf(earlier.shown(id, record)).has(path);
          if (isSame(value, is.get(path)) || (isEmpty(value) && !isShown)) return [];
          const loss = `${device.name}: undo: ${username} ${path}: ${textOf(value)} -> ${textOf(is.get(path))}`;
          const verdict = resultsOf(execution).find(
            (one) => one.device === device.name && one.key === username,
          )?.verdict;
          return [
            ...(this.#isSaid(output, path, device)
              ? []
              : [`${loss}, and the plan says nothing of it`]),
            ...(isShown && verdict === 'done' ? [`${loss}, and it is called done`] : []),
          ];
        });
      });
    });
  }

  /** The output names every selected device, also an absent one. */
  #unnamed(execution: Execution, undone: Execution | undefined): string[] {
    const { line, plan, real, devices, isJson } = execution;
    if (line.kind === 'undo' && undone === undefined) return [];
    const faults: string[] = [];
    // For a file without changes only the number of records is printed.
    const isNothing =
      line.kind === 'import' && /records are unchanged/.test(plan.stdout + plan.stderr);
    for (const [what, run] of [['plan', plan] as const, ['result', real] as const]) {
      if (run.exitCode === 2) continue;
      // If all is refused, the plan has named the devices.
      if (run.exitCode === 6 && what === 'result') continue;
      const text =
        isJson && what === 'result' && line.kind !== 'read'
          ? run.stdout || run.stderr
          : run.stdout + run.stderr;
      for (const { name, isAbsent } of devices) {
        const earlier = undone?.devices.find((one) => one.name === name);
        const isMeant =
          undone === undefined
            ? isAbsent || (!isNothing && line.kind !== 'read')
            : earlier?.before !== earlier?.after;
        if (isMeant && !names(text, name)) faults.push(`${name} does not stand in the ${what}`);
      }
    }
    const hasAbsent = devices.some(({ isAbsent, isLost }) => isAbsent || isLost);
    if (hasAbsent && undone === undefined && real.exitCode === 0) {
      faults.push('exit 0, and a device was absent');
    }
    return faults;
  }

  #verdicts(execution: Execution, undone: Execution | undefined): string[] {
    const { plan, real, devices, line } = execution;
    const faults: string[] = [];
    const writes = devices.flatMap((device) => device.writes);
    if ([2, 6].includes(real.exitCode) && writes.length > 0) {
      faults.push(`exit ${real.exitCode}, and ${writes.length} writes were sent`);
    }
    if ([70].includes(real.exitCode) || plan.exitCode === 70) faults.push(`a bug: ${real.stderr}`);
    for (const { device: name, key, verdict, differences } of resultsOf(execution)) {
      const device = devices.find((one) => one.name === name);
      if (device === undefined) {
        faults.push(`${name}: a verdict for a device that was not selected`);
        continue;
      }
      if (device.isLost && ['done', 'no effect', 'differs'].includes(verdict)) {
        faults.push(`${name}: ${key} is "${verdict}", and it could not be read`);
      }
      const before = named(device.before, key);
      const after = named(device.after, key);
      const hasChanged = before?.[1] !== after?.[1];
      if (hasChanged && !['done', 'differs', 'unknown'].includes(verdict)) {
        const [was, is] = [leavesOf(before?.[1]), leavesOf(after?.[1])];
        if ([...was, ...is].some(([path]) => !isSame(was.get(path), is.get(path)))) {
          faults.push(`${name}: ${key} is "${verdict}", and it has changed`);
        }
      }
      const sent = device.writes.flatMap((write) => [
        ...bodyLeaves(write.contentType, write.body).keys(),
      ]);
      for (const difference of differences) {
        const isSent = sent.some((path) => isWithin(path, difference.field));
        if ('sent' in difference && !isSent) {
          faults.push(`${name}: says that ${difference.field} was sent, and it was not`);
        }
      }
      const wish = undone ? undefined : wishFor(line, key, undefined);
      if (verdict !== 'done' || wish === undefined) continue;
      if (wish.isDeleting && after !== undefined)
        faults.push(`${name}: ${key} is there, called done`);
      const holds = leavesOf(after?.[1]);
      for (const [path, value] of wish.typed) {
        if (!isSame(holds.get(path), value)) {
          faults.push(`${name}: ${key} done, and holds ${path}=${textOf(holds.get(path))}`);
        }
      }
    }
    return faults;
  }
}

const isWithin = (path: string, field: string): boolean =>
  path === field || path.startsWith(`${field}.`) || field.startsWith(`${path}.`);

/** The fields of a body. */
export function bodyLeaves(contentType: string, body: string): Leaves {
  if (body === '') return new Map();
  if (contentType.includes('json')) return leavesOf(JSON.parse(body) as JsonObject);
  const pairs = new URLSearchParams(body);
  return new Map([...pairs.keys()].map((name) => [name, pairs.getAll(name).join(',')]));
}

/** Whether a plan names a field as filled in: "filled in: lang=de, most common here". */
function isFilledIn(plan: string, path: string): boolean {
  return Array.from(plan.matchAll(/filled in: ([^)\n]*)/g)).some(([, text = '']) =>
    names(text, path),
  );
}

interface Result {
  readonly device: string;
  readonly key: string;
  readonly verdict: string;
  readonly differences: readonly { readonly field: string }[];
}

function resultsOf({ line, real, isJson }: Execution): Result[] {
  if (!isJson || line.kind === 'read' || real.stdout === '') return [];
  const { results = [] } = JSON.parse(real.stdout) as {
    results?: (Omit<Result, 'differences'> & Partial<Result>)[];
  };
  return results.map(({ differences = [], ...result }) => ({ ...result, differences }));
}
