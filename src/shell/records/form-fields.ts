import { asBoolean } from '../../device/equality.ts';
import type { FieldFacts } from '../../device/profile-schema.ts';
import { editText, fieldShape, type FieldShape, typedValue } from '../../device/typed-value.ts';
import {
  isChoiceField,
  isDescribed,
  isWritable,
  keyFieldOf,
  type Origin,
  originOf as factOrigin,
} from '../../device/profile.ts';
import { type FieldIssues, RejectedError } from '../../device/errors.ts';
import {
  type DeviceRecord,
  frequencies,
  grouped,
  isNested,
  isValueList,
  type Value,
  valueAt,
  valueText,
} from '../../device/record.ts';
import { holdsSecret, isSecretName, maskedValue } from '../../device/sensitive-fields.ts';
import { fillMissing } from '../../change/fill-missing.ts';
import { NotPossibleError } from '../../change/plan.ts';
import type { StepResult } from '../../change/verdict.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { isAssignable } from '../../text/words.ts';
import { seenFields } from '../seen-devices.ts';

export type { FieldIssues };

/** A value, and the text for it that the device shows to people. */
export type FieldChoice = NonNullable<FieldFacts['choices']>[number];

interface Spelling {
  readonly yes: string;
  readonly no: string;
}

/** One field of a form, with all that is known about it. Texts may come from a device. */
export interface FormField {
  readonly name: string;
  readonly label: string;
  /** The type as the device names it: string, boolean, choice, integer … */
  readonly type: string;
  readonly isRequired: boolean;
  readonly isReadOnly: boolean;
  readonly isSecret: boolean;
  /** The only values that the device accepts. If absent, it accepts any value. */
  readonly choices?: readonly FieldChoice[] | undefined;
  /** Values seen in other records, if the field takes only certain values and no source lists them. */
  readonly proposals?: readonly FieldChoice[] | undefined;
  readonly maxLength?: number | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  /** How to parse the text of a list or a nested value. */
  readonly nested?: FieldShape | undefined;
  /** How the device spells the yes and no of a boolean. */
  readonly spelling?: Spelling | undefined;
  /** The value of the record as text; empty for a new record and for a secret. */
  readonly value: string;
  /** The different values of several records, the most frequent first; `value` is empty then. */
  readonly mixed?: readonly string[] | undefined;
  /** The value of a new record by default. */
  readonly fallback: string;
  /** The source of what devsh knows about the field. `seen`: only the records. */
  readonly origin: Origin | 'seen';
}

/** The fields of a form for a new record or for `held`: described ones first, no ids, no key of several records. */
export function formFields(
  fleet: Fleet,
  resource: string,
  held: readonly DeviceRecord[] = [],
  name?: string,
): FormField[] {
  const [record] = held;
  const session = informed(fleet, resource, name);
  const known = session?.profile.resources[resource]?.fields ?? {};
  const records = session?.cached(resource) ?? [];
  const idFields = session?.profile.idFields ?? [];
  const keyField = session && keyFieldOf(session.profile, resource, records);
  const all = Object.keys(known);
  const described = all.filter((field) => known[field]?.type !== undefined);
  const missing =
    session && record === undefined
      ? fillMissing({ profile: session.profile, records, resource }, {})
      : undefined;
  const seen =
    record === undefined ? seenFields(fleet.connected, resource) : held.flatMap(Object.keys);
  const names = [...new Set([...described, ...all, ...seen])];
  return names
    .filter((field) => !idFields.includes(field) && isAssignable(field))
    .map((field) => {
      // `flatMap` with the value in a list: a value that is a list itself stays one value.
      const values = records.flatMap((one) => (Object.hasOwn(one, field) ? [one[field]] : []));
      const isKey = field === keyField;
      const facts = valueAt(known, field) ?? {};
      const one: FormField = {
        ...formField(field, facts, values, record),
        isRequired: (facts.required ?? isKey) || missing?.needed.includes(field) === true,
        fallback: valueText(valueAt(missing?.values, field)),
        origin: originOf(session, resource, field),
      };
      return held.length < 2 ? one : fieldOfAll(one, held, isKey);
    });
}

/** The same field for several records. */
function fieldOfAll(field: FormField, held: readonly DeviceRecord[], isKey: boolean): FormField {
  const values = held.map((record) =>
    Object.hasOwn(record, field.name) ? record[field.name] : undefined,
  );
  if (values.some(showsSecret)) return { ...field, isReadOnly: true };
  const texts = values.map((value) => valueText(value && maskedValue(field.name, value)));
  const mixed = frequencies(texts).map(([text]) => text);
  if (mixed.length < 2 || field.isSecret) return field;
  return { ...field, value: '', mixed, isReadOnly: field.isReadOnly || isKey };
}

/** By field: why devices refused it, or that it differs from what was sent. Names the devices if not all object. */
export function objections(results: readonly StepResult[]): FieldIssues {
  const count = new Set(results.map(({ device }) => device.name)).size;
  const found = results.flatMap((result) =>
    objectionsOf(result).map(([field, text]) => ({ field, text, name: result.device.name })),
  );
  const textsOf = (all: typeof found): string[] =>
    [...grouped(all, ({ text }) => text)].map(([text, same]) => {
      const names = new Set(same.map(({ name }) => name));
      return names.size === count ? text : `${[...names].join(', ')}: ${text}`;
    });
  const byField = grouped(found, ({ field }) => field);
  return Object.fromEntries([...byField].map(([field, all]) => [field, textsOf(all)]));
}

function objectionsOf({ verdict, error, differences = [] }: StepResult): [string, string][] {
  const hasIssues = error instanceof RejectedError || error instanceof NotPossibleError;
  const issues = hasIssues ? Object.entries(error.issues) : [];
  const isOther = verdict === 'differs' || verdict === 'no effect';
  return [
    ...issues.flatMap(([field, texts]) => texts.map((text): [string, string] => [field, text])),
    ...(isOther ? differences : []).map(({ field, held }): [string, string] => [
      field,
      isSecretName(field) ? 'not as sent' : `has ${valueText(held) || 'nothing'}`,
    ]),
  ];
}

/** The device `name`, or the first one of the selection; preferably one that has described its fields. */
function informed(
  fleet: Fleet,
  resource: string,
  name: string | undefined,
): DeviceSession | undefined {
  const named = fleet.connected.find(({ ref }) => ref.name === name);
  const sessions = named === undefined ? fleet.selection : [named];
  const hasDetails = (session: DeviceSession): boolean => isDescribed(session.profile, resource);
  return sessions.find(hasDetails) ?? sessions[0];
}

function originOf(
  session: DeviceSession | undefined,
  resource: string,
  field: string,
): FormField['origin'] {
  const known = valueAt(session?.profile.resources[resource]?.fields, field);
  const isKnown = known?.needed === true || (known !== undefined && isWritable(known));
  return session !== undefined && isKnown
    ? factOrigin(session.profile, `resources.${resource}.fields.${field}`)
    : 'seen';
}

/** The field of one record, or of a new one. */
function formField(
  name: string,
  facts: FieldFacts,
  values: readonly (Value | undefined)[],
  record: DeviceRecord | undefined,
): Omit<FormField, 'isRequired' | 'origin' | 'fallback'> {
  const current = valueAt(record, name);
  const shape = fieldShape(facts, [...values, current]);
  const isNested = shape.kind === 'list' || shape.kind === 'object';
  const type = facts.type ?? (shape.kind === 'boolean' ? 'boolean' : 'string');
  const isSecret = isSecretName(name) && typeof current !== 'boolean';
  const isChoice = isChoiceField(facts);
  const choices = facts.choices;
  return {
    name,
    label: facts.label ?? labelOf(name),
    type,
    isReadOnly:
      facts.readOnly === true ||
      (facts.createOnly === true && record !== undefined) ||
      showsSecret(current),
    isSecret,
    nested: isNested ? shape : undefined,
    spelling: type === 'boolean' ? spellingOf([...values, current]) : undefined,
    maxLength: facts.maxLength,
    min: facts.min,
    max: facts.max,
    choices: choices?.length === 0 ? undefined : choices,
    proposals: choices === undefined && isChoice ? proposalsOf(values) : undefined,
    value: isSecret ? '' : editText(current && maskedValue(name, current), shape),
  };
}

const SPELLINGS: readonly Spelling[] = [
  ['true', 'false'],
  ['True', 'False'],
  ['yes', 'no'],
  ['on', 'off'],
  ['1', '0'],
  ['enable', 'disable'],
  ['enabled', 'disabled'],
].map(([yes = '', no = '']) => ({ yes, no }));

/** The spelling that the records show: some devices store `on` in a field that they call boolean. */
function spellingOf(values: readonly (Value | undefined)[]): Spelling {
  const texts = values.map(valueText).filter((text) => text !== '');
  const fits = ({ yes, no }: Spelling): boolean =>
    texts.every((text) => text === yes || text === no);
  return SPELLINGS.find(fits) ?? { yes: 'true', no: 'false' };
}

/** Whether the JSON of a value would show secrets in it. The form makes it read-only; a line can name each part. */
function showsSecret(value: Value | undefined): boolean {
  return isNested(value) && holdsSecret(value);
}

/** `first_name` -> `First name`. */
function labelOf(field: string): string {
  const words = field.replace(/(?<=[^_])_(?=[^_])/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function proposalsOf(values: readonly (Value | undefined)[]): FieldChoice[] {
  const texts = values.map(valueText).filter((text) => text !== '');
  return frequencies(texts).map(([value]) => ({ value, label: value }));
}

/** Whether the text of a boolean says yes, however it is spelt; undefined when it says neither. */
export function isOn({ type }: FormField, text: string): boolean | undefined {
  return type === 'boolean' ? asBoolean(text) : undefined;
}

export function itemsOf({ nested }: FormField, text: string): readonly string[] {
  return valuesIn(nested, text).map((value) => valueText(value));
}

/** The text of a list after a choice is added or removed, in the order of the choices. */
export function toggledText(field: FormField, text: string, choice: string): string {
  const { nested, choices = [] } = field;
  if (nested?.kind !== 'list') return text;
  const held = valuesIn(nested, text);
  const isHeld = held.some((value) => valueText(value) === choice);
  const kept = held.filter((value) => valueText(value) !== choice);
  const { value: typed = choice } = { value: undefined, ...typedValue(choice, nested.item) };
  const added = isHeld ? [] : [typed];
  const rank = (value: Value): number =>
    choices.findIndex((known) => known.value === valueText(value));
  const values = [...kept, ...added].sort((one, other) => rank(one) - rank(other));
  return values.length === 0 ? '' : editText(values, nested);
}

/** The first choice that begins with these letters, by value or name; -1 when none does. */
export function soughtIndex(choices: readonly FieldChoice[], letters: string): number {
  const wanted = letters.toLowerCase();
  return choices.findIndex(({ value, label }) =>
    [value, label].some((text) => text.toLowerCase().startsWith(wanted)),
  );
}

function valuesIn(nested: FormField['nested'], text: string): readonly Value[] {
  const { value } = { value: undefined, ...typedValue(text, nested ?? { kind: 'text' }) };
  return isValueList(value) ? value : [];
}
