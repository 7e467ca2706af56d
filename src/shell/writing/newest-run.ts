import type { Run, RunHead } from '../../change/journal.ts';
import { EmptyJournalError } from '../../change/plan.ts';
import { changedDevices } from '../../change/undo.ts';
import { parseHead, parseJournal } from '../../change/read-journal.ts';
import { DevshError, RefusedError } from '../../errors.ts';
import { someOf } from '../../text/one-line.ts';
import type { WriteCall } from '../command.ts';
import { type Output, warning } from '../output.ts';
import { zonedTime } from '../../text/time.ts';
import type { Services } from '../services.ts';

/** Who started a run: this session, this user, or somebody else. The closest comes first. */
const OWNERS = ['session', 'user', 'somebody else'] as const;
type Owner = (typeof OWNERS)[number];

export interface FoundRun {
  readonly run: Run;
  readonly owner: Owner;
  /** Ids of newer journals that cannot be read: their changes are unknown. */
  readonly unreadable: readonly string[];
}

/** The selected devices (no `addresses`: all). Throws a `UsageError` if devices are connected and none is selected. */
export async function selectedDevices(call: WriteCall) {
  const { connected } = call.shell.fleet;
  const refs = (connected.length > 0 ? await call.sessions() : await call.selected()).map(
    ({ ref }) => ref,
  );
  if (refs.length === 0) return { addresses: undefined, text: 'a device' };
  return {
    addresses: new Set(refs.map(({ address }) => address)),
    text: someOf(refs.map(({ name }) => name)),
  };
}

/** The newest run that changed these addresses (`undefined`: any): of this terminal, else of this user, else of anyone. */
export async function newestRun(
  { runs, operator, terminalSession }: Services,
  addresses: ReadonlySet<string> | undefined,
  without: ReadonlySet<string>,
): Promise<FoundRun | undefined> {
  const ownerOf = ({ by, session }: RunHead): Owner => {
    if (by !== operator) return 'somebody else';
    return session === terminalSession ? 'session' : 'user';
  };
  const unreadable: string[] = [];
  let found: FoundRun | undefined;
  for (const id of await runs.ids()) {
    if (without.has(id)) continue;
    const text = (await runs.read(id)) ?? '';
    try {
      const owner = ownerOf(parseHead(text, runs.path(id)));
      if (found !== undefined && OWNERS.indexOf(owner) >= OWNERS.indexOf(found.owner)) continue;
      const run = parseJournal(text, runs.path(id));
      if (changedDevices(run).some(({ address }) => addresses?.has(address) !== false))
        found = { run, owner, unreadable: [...unreadable] };
      if (found?.owner === 'session') break;
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      // A run without a journal entry has sent nothing.
      if (!(error instanceof EmptyJournalError)) unreadable.push(id);
    }
  }
  return found;
}

/**
 * Warns of newer journals that cannot be read. Throws a `RefusedError` for another user's run, and for a run of
 * another terminal if devsh cannot ask.
 */
export function* checkOwner(
  { options, io }: WriteCall,
  { run, owner, unreadable }: FoundRun,
  which: string,
): Generator<Output> {
  if (unreadable.length > 0) {
    yield warning(`skipped runs with unreadable journals: ${someOf(unreadable)}`);
  }
  const isUnasked = !options.dryRun && (options.yes || io.ask === undefined);
  if (owner === 'session' || (owner === 'user' && !isUnasked)) return;
  throw new RefusedError(
    `${which} is not of this terminal: "undo ${run.run}" undoes it (${runText(run, owner)}); nothing was sent`,
  );
}

export function runText({ run, at, by, command, session, plan }: Run, owner?: Owner): string {
  const elsewhere = session === undefined ? 'no known terminal' : 'another terminal';
  const where =
    owner === 'user' ? ` of ${elsewhere}` : owner === 'somebody else' ? ` of ${by}` : '';
  const what = plan.undoes === undefined ? 'run' : `the undo of run ${plan.undoes.run}: run`;
  return `${what} ${run}${where}, began ${zonedTime(at)}: ${command}`;
}
