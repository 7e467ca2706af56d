import type { Value } from '../../../src/device/record.ts';
import { LANGUAGES } from '../../../src/simulator/store.ts';

interface AnyField {
  readonly name: string;
  /** The default of a new record; a field without one is required. */
  readonly fallback?: Value;
  /** The client's value is ignored. */
  readonly readOnly?: true;
  /** Absent from records for which it was never sent. */
  readonly mayLack?: true;
}

export interface StringField extends AnyField {
  readonly type: 'string';
  readonly maxLength: number;
  readonly mayBeBlank?: true;
  readonly pattern?: RegExp;
  /** The message if the pattern does not match. */
  readonly patternMessage?: string;
}

export interface ChoiceField extends AnyField {
  readonly type: 'choice';
  readonly choices: readonly (readonly [value: string, displayName: string])[];
}

export interface IntegerField extends AnyField {
  readonly type: 'integer';
  readonly min: number;
  readonly max: number;
}

/** A list of texts. */
export interface ListField extends AnyField {
  readonly type: 'list';
  readonly maxLength: number;
}

interface NestedField extends AnyField {
  readonly type: 'nested object';
  readonly children: readonly Field[];
}

/** One field of a resource; the types have the names of Django REST Framework. */
export type Field =
  | StringField
  | ChoiceField
  | IntegerField
  | ListField
  | NestedField
  | (AnyField & { readonly type: 'boolean' })
  | (AnyField & { readonly type: 'datetime'; readonly readOnly: true });

export function isRequired({ fallback, readOnly, mayLack }: Field): boolean {
  return fallback === undefined && readOnly !== true && mayLack !== true;
}

export interface Resource {
  /** The name in paths. */
  readonly name: string;
  /** The unique field that names a record; absent for a single object. */
  readonly key?: string;
  readonly fields: readonly Field[];
}

export function titleOf({ name }: Resource): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

const LANGUAGE_NAMES: Readonly<Record<(typeof LANGUAGES)[number], string>> = {
  de: 'German',
  en: 'English',
  fr: 'French',
  it: 'Italian',
  es: 'Spanish',
  ja: 'Japanese',
};

/** The API document requires all of them. */
const PERSON: readonly Field[] = [
  { name: 'first_name', type: 'string', maxLength: 150, mayBeBlank: true },
  { name: 'lastname', type: 'string', maxLength: 150, mayBeBlank: true },
  {
    name: 'username',
    type: 'string',
    maxLength: 150,
    pattern: /^[\p{L}\p{N}_.@+-]+$/u,
    patternMessage:
      'Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ characters.',
  },
  {
    name: 'lang',
    type: 'choice',
    choices: LANGUAGES.map((lang) => [lang, LANGUAGE_NAMES[lang]] as const),
  },
];

/** The same with optional names. */
const SHORT_PERSON = PERSON.map((field): Field =>
  'mayBeBlank' in field ? { ...field, fallback: '' } : field,
);

const IS_ACTIVE: Field = { name: 'is_active', type: 'boolean', fallback: true };
const MODIFIED: Field = { name: 'modified', type: 'datetime', readOnly: true };
const CAN_BE_DELETED: Field = {
  name: 'canBeDeleted',
  type: 'boolean',
  readOnly: true,
  fallback: true,
};

const documentedUser: Resource = { name: 'user', key: 'username', fields: PERSON };
const restUser: Resource = { ...documentedUser, fields: [...SHORT_PERSON, IS_ACTIVE, MODIFIED] };
const formUser: Resource = { ...documentedUser, fields: [...SHORT_PERSON, CAN_BE_DELETED] };

const networkInterface: Resource = {
  name: 'interface',
  key: 'name',
  fields: [
    { name: 'name', type: 'string', maxLength: 15 },
    { name: 'description', type: 'string', maxLength: 200, mayBeBlank: true, fallback: '' },
    { name: 'mtu', type: 'integer', min: 68, max: 9216, fallback: 1500 },
    { name: 'enabled', type: 'boolean', fallback: true },
    { name: 'addresses', type: 'list', maxLength: 50, fallback: [] },
    {
      name: 'ipv4',
      type: 'nested object',
      fallback: { mode: 'none', gateway: '', metric: 0 },
      children: [
        {
          name: 'mode',
          type: 'choice',
          fallback: 'none',
          choices: [
            ['none', 'No address'],
            ['static', 'Static'],
            ['dhcp', 'DHCP'],
          ],
        },
        { name: 'gateway', type: 'string', maxLength: 50, mayBeBlank: true, fallback: '' },
        { name: 'metric', type: 'integer', min: 0, max: 9999, fallback: 0 },
      ],
    },
  ],
};

const system: Resource = {
  name: 'system',
  fields: [
    { name: 'hostname', type: 'string', maxLength: 63 },
    { name: 'location', type: 'string', maxLength: 100, mayBeBlank: true, fallback: '' },
    {
      name: 'timezone',
      type: 'choice',
      fallback: 'UTC',
      choices: [
        ['UTC', 'UTC'],
        ['Europe/Berlin', 'Berlin'],
        ['Asia/Tokyo', 'Tokyo'],
      ],
    },
    { name: 'session_minutes', type: 'integer', min: 1, max: 1440, fallback: 30 },
    { name: 'ssh_enabled', type: 'boolean', fallback: true },
    { name: 'ntp_servers', type: 'list', maxLength: 100, fallback: [] },
    { name: 'version', type: 'string', maxLength: 20, readOnly: true, fallback: '4.2.1' },
  ],
};

/** In the order of `GET /api/`. */
export const RESOURCES = {
  documented: [documentedUser, system],
  drf: [restUser, networkInterface, system],
  'generic-rest': [restUser, networkInterface, system],
  'form-action': [formUser, networkInterface, system],
};
