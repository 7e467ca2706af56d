import { resolve } from 'node:path';
import { parseRoute } from '../../device/route/choose-route.ts';
import { writtenRoute } from '../inventory-route.ts';
import { SETTING_KEYS } from '../inventory-schema.ts';
import type { SettingKey, WrittenSettings } from '../written-inventory.ts';

type Written = string | readonly string[];

/**
 * The same settings in their one order and spelling, so that two can be compared: paths from the root instead of
 * from `folder`, a proxy with its port. Throws a UsageError for a way that cannot be understood.
 */
export function normalizedSettings(settings: WrittenSettings, folder: string): WrittenSettings {
  const entries = SETTING_KEYS.flatMap((key): [SettingKey, Written][] => {
    const value = settings[key];
    return value === undefined ? [] : [[key, value]];
  });
  return Object.fromEntries(
    entries.flatMap(([key, value]): [string, Written][] => {
      switch (key) {
        case 'proxy':
        case 'jump':
          return Object.entries(writtenRoute(parseRoute(key, String(value))));
        case 'ca':
          return [[key, resolve(folder, String(value))]];
        case 'netrc': {
          const isPath = !/^(?:true|false|~\/.*)$/s.test(String(value));
          return [[key, isPath ? resolve(folder, String(value)) : value]];
        }
        case 'credential_command':
        case 'git_credential': {
          const [program = '', ...args] = [value].flat();
          return [[key, [program.includes('/') ? resolve(folder, program) : program, ...args]]];
        }
        case 'user':
        case 'profile':
        case 'label':
        case 'color':
        case 'insecure':
        case 'read_only':
          return [[key, value]];
      }
    }),
  );
}
