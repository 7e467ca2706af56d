import { resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { SETTING_KEYS } from '../inventory-schema.ts';
import type { WrittenSettings } from '../written-inventory.ts';
import type { Findings, FoundDevice } from './findings.ts';
import { asList, asObject, asText, readJson, type JsonObject } from './json-source.ts';

/** Reads what `device list --json` prints: `{"inventory": [{"name": …, "address": …}]}`. Throws a UsageError. */
export function parseDeviceList(text: string, file: string): Findings {
  const data = readJson(text, file);
  const rows = Array.isArray(data) ? data : asObject(data)?.['inventory'];
  if (!Array.isArray(rows)) {
    throw new UsageError(`${file} is no list of devices as "device list --json" prints it`);
  }
  const devices = asList(rows).map((item, index): FoundDevice => {
    const row = asObject(item) ?? {};
    return {
      name: asText(row['name']) ?? '',
      address: asText(row['address']) ?? '',
      groups: asList(row['groups']).flatMap((group) => asText(group) ?? []),
      settings: settingsOf(row),
      place: `${file}: device ${index + 1}`,
    };
  });
  return { devices, groups: [], remarks: [] };
}

function settingsOf(row: JsonObject): WrittenSettings {
  const settings = SETTING_KEYS.flatMap((key): [string, string | string[]][] => {
    const value = row[key];
    if (Array.isArray(value)) {
      return [[key, asList(value).flatMap((word) => asText(word) ?? [])]];
    }
    const text = typeof value === 'boolean' ? String(value) : asText(value);
    if (text === undefined) return [];
    return [[key, key === 'ca' ? resolve(text) : text]];
  });
  return Object.fromEntries(settings);
}
