import { dirname } from 'node:path';
import { UsageError } from '../../errors.ts';
import {
  type ImportPlan,
  type ImportStep,
  type KeyChange,
  planImport,
} from '../../fleet/import/import-plan.ts';
import { readSource } from '../../fleet/import/read-source.ts';
import { type Findings, kindOfSource, SOURCE_KINDS } from '../../fleet/import/source.ts';
import type { SettingKey } from '../../fleet/inventory-schema.ts';
import { textOf } from '../../output/sentences.ts';
import { homeFolder } from '../../os/environment.ts';
import type { Call } from '../command.ts';
import { info, type Output, success, table, type TableOutput, warning } from '../output.ts';
import { confirm } from '../session.ts';

/** Keys that the user should check in the file of somebody else, each with its danger. */
const DELICATE: Readonly<Partial<Record<SettingKey, string>>> = {
  insecure: 'devsh will not check the certificate',
  ca: 'anyone with its key can pose as the device',
  credential_command: 'devsh will run a program for the login',
  credential_store_command: 'devsh will give new logins to a program',
};

/** Shows what the source would add and change, asks, and writes it to devices.yaml. Throws DevshError. */
export async function* takeOverDevices(
  call: Call<'yes' | 'dryRun' | 'allow' | 'from' | 'groups'>,
): AsyncGenerator<Output> {
  const { inventory: file } = call.shell.services;
  const found = inGroups(await readImportSource(call), call.options.groups);
  const plan = planImport(found, { ...(await file.read()), folder: dirname(file.path) });
  yield* planMessages(call, found, plan);
  const count = plan.steps.length + plan.groups.length;
  if (count === 0) {
    yield nothingToDo(found, plan);
    return;
  }
  if (call.options.dryRun) return;
  const textFor = (expected: string): string =>
    `Write this to ${file.path} (${countsOf(plan)})? Type ${expected} to do it:`;
  await confirm(call, count, textFor, { nothing: 'nothing was written' });
  await file.edit((document) => document.applyImport(plan));
  yield success(`${file.path}: ${countsOf(plan)}`);
}

function nothingToDo({ devices }: Findings, { unchanged }: ImportPlan): Output {
  const known = unchanged.length;
  if (known === 0) {
    const why = devices.length === 0 ? 'has no device' : 'has no device that can be imported';
    return warning(`nothing to do: the source ${why}`);
  }
  const are = known === 1 ? '1 device is' : `${known} devices are`;
  const text = `nothing to do: ${are} in the inventory, unchanged`;
  return success(text);
}

function inGroups(found: Findings, groups: readonly string[]): Findings {
  if (groups.length === 0) return found;
  return {
    ...found,
    devices: found.devices.map((device) => ({ ...device, groups: [...device.groups, ...groups] })),
  };
}

function* planMessages(call: Call<'dryRun'>, found: Findings, plan: ImportPlan): Generator<Output> {
  const rows = [...plan.groups.map((step) => ({ ...step, name: `@${step.name}` })), ...plan.steps];
  const isWell = rows.length > 0 || plan.unchanged.length > 0;
  const refused = plan.refused.map(({ name, place, reason, problem }) => {
    return { name, action: reason, what: `${place}: ${textOf(problem)}` };
  });
  const all = [...rows.map(stepRow), ...refused];
  // A program gets an empty list, too.
  const isForProgram = call.options.format !== undefined && call.options.format !== 'table';
  if (all.length > 0 || isForProgram) {
    yield table('import', ['name', 'action', 'what'], all, { hasSuccess: isWell });
  }
  for (const remark of found.remarks) yield warning(remark);
  for (const [key, danger] of Object.entries(DELICATE)) {
    const names = rows.filter(({ changes }) => changes.some((change) => isSet(change, key)));
    if (names.length === 0) continue;
    yield warning(`${key} of ${names.map(({ name }) => name).join(', ')}: ${danger}`);
  }
  const { length } = plan.refused;
  if (length > 0) {
    const text = `${length === 1 ? '1 device is' : `${length} devices are`} left out, for the reasons above`;
    yield { kind: 'error', error: new UsageError(text) };
  }
  if (rows.length > 0 && call.options.dryRun) {
    yield info(`would write: ${countsOf(plan)}`);
  }
}

function stepRow({ name, action, changes }: ImportStep): TableOutput['rows'][number] {
  return {
    name,
    action,
    what: changes.map(changeText).join(' · '),
    changes: changes.map(({ key, before = null, after = null }) => ({ field: key, before, after })),
  };
}

function isSet({ key, after }: KeyChange, wanted: string): boolean {
  return key === wanted && after !== undefined && after !== 'false';
}

/** `address 10.0.0.5 -> 10.0.0.9`, `groups berlin, core`, `jump gate taken out`. */
function changeText({ key, before, after }: KeyChange): string {
  const text = (value: string | readonly string[]): string =>
    typeof value === 'string' ? value : value.join(', ');
  if (after === undefined) return `${key} ${text(before ?? '')} taken out`;
  return before === undefined
    ? `${key} ${text(after)}`
    : `${key} ${text(before)} -> ${text(after)}`;
}

function countsOf({ steps, groups, unchanged, refused }: ImportPlan): string {
  const added = steps.filter(({ action }) => action === 'add').length;
  const parts = [
    [added, 'added'],
    [steps.length - added, 'changed'],
    [groups.length, groups.length === 1 ? 'group' : 'groups'],
    [unchanged.length, 'unchanged'],
    [refused.length, 'left out'],
  ] as const;
  return parts.flatMap(([count, what]) => (count === 0 ? [] : `${count} ${what}`)).join(' · ');
}

/** More devices than one inventory file should contain. */
const MAX_DEVICES = 100_000;
/** Reads SOURCE: a file, or standard input for `-`. Throws DevshError. */
async function readImportSource(call: Call<'from'>): Promise<Findings> {
  const { env } = call.shell.services;
  const source = call.args.required('SOURCE');
  if (/^https?:\/\//i.test(source)) {
    throw new UsageError(
      'devsh imports devices from a file or "-": save the devices of your inventory system as CSV',
    );
  }
  const path = source.replace(/^~(?=\/)/, homeFolder(env));
  const name = source === '-' ? 'standard input' : path;
  const text = await call.readText(path);
  const kind = call.options.from ?? kindOfSource(source, text);
  if (kind === undefined) {
    throw new UsageError(`${name} has no recognizable kind: use --from ${SOURCE_KINDS.join('|')}`);
  }
  const findings = readSource(kind, text, name);
  if (findings.devices.length > MAX_DEVICES) {
    throw new UsageError(
      `${source} has ${findings.devices.length} devices; at most ${MAX_DEVICES} can be imported`,
    );
  }
  return findings;
}
