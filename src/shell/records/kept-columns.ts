import type { DeviceSession } from '../../fleet/device-session.ts';
import type { Call } from '../command.ts';
import { type MessageOutput, type View, info } from '../output.ts';
import { documentedProfile } from '../../device/built-in-profiles.ts';
import { keyFieldOf } from '../../device/profile.ts';

/** `--columns auto`: chosen by content again. */
const AUTO = 'auto';

/** Only where it is read on a screen: what a program reads is the same on every machine. */
export function withKeptColumns(call: Call, sessions: readonly DeviceSession[], view: View): View {
  const { columns, ...others } = view;
  if (columns !== undefined) return isAuto(columns) ? others : view;
  const recalled = isOnScreen(call) ? recall(call, sessions, view.resource) : undefined;
  return recalled === undefined ? view : { ...view, recalled };
}

/** Keeps the columns that were asked for at a prompt, as far as records have them; says so when they are others. */
export async function* keepColumns(
  call: Call<never, 'columns'>,
  sessions: readonly DeviceSession[],
  resource: string,
  fields: ReadonlySet<string>,
): AsyncGenerator<MessageOutput> {
  const { columns } = call.options;
  if (columns === undefined || !isOnScreen(call)) return;
  const isForgotten = isAuto(columns);
  // The columns of a single command, of a script line and of an alias apply to this one list.
  if (!isForgotten && (call.io.isPrompt !== true || call.isAlias)) return;
  const fitting = columns.filter((field) => fields.has(field));
  const before = recall(call, sessions, resource);
  if (
    isForgotten ? before === undefined : fitting.length === 0 || before?.join() === fitting.join()
  )
    return;
  const kept = isForgotten ? undefined : fitting;
  await call.shell.services.columns.keep(profileName(sessions), resource, kept);
  yield info(
    isForgotten
      ? `${resource} list shows every field again`
      : `${resource} list shows these columns from now on; --columns auto shows all again`,
  );
}

function recall(
  call: Call,
  sessions: readonly DeviceSession[],
  resource: string,
): readonly string[] | undefined {
  return call.shell.services.columns.recall(profileName(sessions), resource);
}

/** The profile of the first device, which also tells what the fields are. */
function profileName([first]: readonly DeviceSession[]): string {
  return first?.entry.profile ?? 'documented';
}

function isOnScreen({ io, options }: Call): boolean {
  return io.isOnScreen === true && (options.format ?? 'table') === 'table';
}

function isAuto(columns: readonly string[]): boolean {
  return columns.length === 1 && columns[0] === AUTO;
}

/** As long as no line said otherwise; `recalled`: the columns of the last time. */
export function defaultView(resource: string, recalled?: readonly string[]): View {
  return {
    resource,
    layout: 'table',
    recalled,
    key: keyFieldOf(documentedProfile, resource),
    fold: true,
    perDevice: documentedProfile.idFields,
  };
}
