import { DevshError } from '../../errors.ts';
import type { Event } from '../../history/events.ts';
import type { ShellSession } from '../../shell/session.ts';
import type { Store } from '../store.ts';
import { markOf } from './rows.ts';
import type { TableChanges } from './table-state.ts';

/** Devices respond one after the other, and what they showed is written first. */
const GATHER_MS = 1_500;

/**
 * Marks what changed since the table of a resource was last on screen in an earlier session: once for each
 * device, from the history. Only a table without a filter counts as looked at. Returns the function that ends it.
 */
export function markNews(shell: ShellSession, store: Store): () => void {
  const looks = new Map<string, Map<string, number>>();
  const events = new Map<string, Event[]>();
  let looked: unknown;
  let timer: NodeJS.Timeout | undefined;

  /** Notes what is on screen; returns the devices that were not before, by resource. */
  const look = (): [resource: string, devices: string[]] => {
    const { view, reads } = store.state.table;
    const times = looks.get(view.resource) ?? new Map<string, number>();
    looks.set(view.resource, times);
    const devices = [...reads].flatMap(([name, { outcome, at }]) => {
      if (!outcome.ok || at === undefined) return [];
      const isFirst = !times.has(name);
      times.set(name, at.getTime());
      return isFirst ? [name] : [];
    });
    return [view.resource, devices];
  };
  const update = async (resource: string, devices: readonly string[]): Promise<void> => {
    const { History } = await import('../../history/history.ts');
    const { keepLooks, readLooks } = await import('../../history/looks.ts');
    const files = await shell.readings();
    const before = (await readLooks(files))[resource] ?? {};
    const history = new History(files);
    const found = events.get(resource) ?? [];
    events.set(resource, found);
    for (const name of devices) {
      const since = before[name];
      if (since === undefined) continue;
      const changes = await history.events(name, resource);
      found.push(...changes.filter((one) => one.before > since));
    }
    const news = new Map([...store.state.news, [resource, changesIn(found)]]);
    store.dispatch({ kind: 'facts', facts: { news } });
    await keepLooks(files, looks);
  };
  const unsubscribe = store.subscribe(() => {
    const { overlay, table } = store.state;
    if (overlay.kind !== 'none' || table.reads === looked || table.reads.size === 0) return;
    if (
      table.view.filtered === true ||
      table.view.isPast === true ||
      shell.services.historyLimits.days === 0
    )
      return;
    looked = table.reads;
    timer ??= setTimeout(() => {
      timer = undefined;
      const [resource, devices] = look();
      if (devices.length > 0) shell.inBackground(update(resource, devices).catch(ignored));
    }, GATHER_MS);
  });
  shell.closing.push(async () => {
    if (looks.size === 0) return;
    const { keepLooks } = await import('../../history/looks.ts');
    await keepLooks(await shell.readings(), looks).catch(ignored);
  });
  return () => {
    unsubscribe();
    clearTimeout(timer);
  };
}

/** Marks are a help beside the table: without its file nothing is marked. */
function ignored(error: unknown): void {
  if (!(error instanceof DevshError)) throw error;
}

/** The last change of each record. Pure. */
export function changesIn(events: readonly Event[]): TableChanges {
  const last = new Map<string, 'added' | 'gone' | readonly string[]>();
  for (const event of events) {
    if (!('key' in event) || event.kind === 'unlisted') continue;
    const mark = markOf(event.device, event.key);
    const known = last.get(mark);
    if (event.kind !== 'changed') last.set(mark, event.kind);
    else if (known !== 'added') {
      const fields = typeof known === 'object' ? known : [];
      last.set(mark, [...fields, ...event.fields.map(({ field }) => field)]);
    }
  }
  const kinds = [...last.values()];
  const count = (kind: string): number => kinds.filter((one) => one === kind).length;
  const [added, removed] = [count('added'), count('gone')];
  const fields = [...last].flatMap(([mark, kind]) =>
    kind === 'gone' ? [] : [[mark, typeof kind === 'string' ? undefined : kind] as const],
  );
  return { fields: new Map(fields), added, removed, changed: kinds.length - added - removed };
}
