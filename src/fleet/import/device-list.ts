import { dirname, resolve } from 'node:path';
import { SettingsError, UsageError } from '../../errors.ts';
import {
  LISTED_SETTINGS,
  LISTED_STATE,
  SETTING_KEYS,
  type SettingKey,
  splitNames,
} from '../inventory-schema.ts';
import { breakGlassNames, normalizedSettings, type WrittenSettings } from '../written-inventory.ts';
import { asList, asObject, asText, type Findings, type FoundDevice, leftOut } from './source.ts';
import { isSecretName } from '../../device/sensitive-fields.ts';
import { parseJsonFile } from '../../device/json.ts';
import { isValueList, type Value, valueAt } from '../../device/record.ts';
import { csvRows, widthProblem } from '../../text/csv.ts';
import type { Note } from '../../output/sentences.ts';
import { readInventory } from '../inventory-text.ts';

/** Reads `device list --json`: `{"inventory": [{"name": …, "address": …}]}`. Throws a UsageError. */
export function parseDeviceList(text: string, file: string): Findings {
  const data = parseJsonFile(text, file);
  const rows = isValueList(data) ? data : asObject(data)?.['inventory'];
  if (!isValueList(rows)) throw new UsageError({ code: 'bad-source', is: 'list', file });
  const devices = rows.map((item, index): FoundDevice => {
    const row = asObject(item) ?? {};
    return {
      name: asText(row['name']) ?? '',
      address: asText(row['address']) ?? '',
      groups: asList(row['groups']).flatMap((group) => asText(group) ?? []),
      settings: settingsOf(SETTING_KEYS, (key) => writtenIn(row[key])),
      place: `${file}: device ${index + 1}`,
    };
  });
  return { devices, groups: [], remarks: [] };
}

function writtenIn(value: Value | undefined): string | string[] | undefined {
  if (isValueList(value)) return value.flatMap((word) => asText(word) ?? []);
  return typeof value === 'boolean' ? String(value) : asText(value);
}

/** @param folder where a relative path of a CA starts */
function settingsOf(
  keys: readonly SettingKey[],
  writtenFor: (key: SettingKey) => string | string[] | undefined,
  folder = '',
): WrittenSettings {
  return Object.fromEntries(
    keys.flatMap((key): [string, string | string[]][] => {
      const written = writtenFor(key) ?? '';
      if (written === '') return [];
      return [[key, key === 'ca' ? resolve(folder, String(written)) : written]];
    }),
  );
}

/** Other common column names. */
const ALIASES: Readonly<Record<string, string>> = {
  device: 'name',
  hostname: 'name',
  host: 'address',
  ip: 'address',
  ip_address: 'address',
  group: 'groups',
  username: 'user',
  readonly: 'read_only',
};

/** A spreadsheet may set how devsh reaches a device, but no program to run, and no trust. */
const SETTINGS = LISTED_SETTINGS.filter((key) => key !== 'insecure');

/** Reads devices from CSV with a line of names; blanks, commas or bars separate groups. Throws UsageError. */
export function parseCsvDevices(text: string, file: string): Findings {
  const [first, ...others] = csvRows(text, file, { trim: true });
  const names = first?.cells ?? [];
  const columns = names.map(columnName);
  for (const needed of ['name', 'address']) {
    const count = columns.filter((column) => column === needed).length;
    if (count === 1) continue;
    const is = count === 0 ? 'no-column' : 'two-columns';
    throw new UsageError({ code: 'bad-source', is, file, column: needed });
  }
  const devices = others.map((row): FoundDevice => {
    const place = `${file}:${row.line}`;
    const problem = widthProblem(row, names.length);
    // A row may omit its last cells.
    if (problem !== undefined && row.cells.length > names.length) {
      throw new UsageError(`${place}: ${problem}`);
    }
    const cell = (column: string): string => unescaped(row.cells[columns.indexOf(column)] ?? '');
    return {
      name: cell('name'),
      address: cell('address'),
      groups: splitNames(cell('groups')),
      settings: settingsOf(
        SETTINGS,
        (key) => (key === 'read_only' ? flagText(cell(key)) : cell(key)),
        dirname(file),
      ),
      place,
    };
  });
  return { devices, groups: [], remarks: remarksOf(names, columns) };
}

/** `Read-Only` -> `read_only`, `IP address` -> `address`. */
function columnName(written: string): string {
  const name = written.toLowerCase().replace(/[\s-]+/g, '_');
  return valueAt(ALIASES, name) ?? name;
}

/** devsh writes an apostrophe before text that a spreadsheet would read as a formula. */
function unescaped(cell: string): string {
  return /^'[=+@\t\r-]/.test(cell) ? cell.slice(1) : cell;
}

/** Booleans as spreadsheets write them; other text stays, and is refused with its line. */
function flagText(cell: string): string {
  if (/^(?:true|yes|y|1|x)$/i.test(cell)) return 'true';
  return /^(?:false|no|n|0)$/i.test(cell) ? 'false' : cell;
}

function remarksOf(written: readonly string[], columns: readonly string[]): Note[] {
  const known: readonly string[] = ['name', 'address', 'groups', ...SETTINGS, ...LISTED_STATE];
  const left = written.filter((_name, index) => !known.includes(columns[index] ?? ''));
  const secret = left.filter(isSecretName);
  const others = left.filter((name) => name !== '' && !secret.includes(name));
  return [...leftOut('secrets', secret), ...leftOut('columns', others)];
}

/** Reads another `devices.yaml`, whose relative paths start at its own folder. Throws a UsageError. */
export function parseDevicesYaml(text: string, file: string): Findings {
  try {
    const { written, lines, inventory } = readInventory(text, file);
    const { breakGlass } = inventory;
    const folder = dirname(resolve(file));
    return {
      devices: written.devices.map((device, index) => ({
        ...device,
        settings: normalizedSettings(
          {
            ...device.settings,
            // The list for all devices of that file. The list of this inventory may be another one.
            ...(breakGlass.length > 0 && {
              break_glass: [...breakGlass, ...breakGlassNames(device.settings)],
            }),
          },
          folder,
        ),
        place: `${file}:${lines[index] ?? 1}`,
      })),
      groups: written.groups.map((group) => ({
        ...group,
        settings: normalizedSettings(group.settings, folder),
      })),
      remarks: [],
    };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new UsageError(error.note ?? error.message, { cause: error });
  }
}
