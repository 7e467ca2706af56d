import { UsageError } from '../../errors.ts';
import { parseAnsible } from './ansible.ts';
import { parseCsvDevices, parseDeviceList, parseDevicesYaml } from './device-list.ts';
import type { Findings, SourceKind } from './source.ts';

/** Parses a source by its kind. Throws a UsageError that names the file. */
export function readSource(kind: SourceKind, text: string, file: string): Findings {
  switch (kind) {
    case 'csv':
      return parseCsvDevices(text, file);
    case 'ansible':
      if (!/^\ufeff?\s*\{/.test(text))
        throw new UsageError({ code: 'bad-source', is: 'ansible-only', file });
      return parseAnsible(text, file);
    case 'devices':
      return isDeviceList(text) ? parseDeviceList(text, file) : parseDevicesYaml(text, file);
  }
}

/** `device list --json` or a bare list; `{"devices": […]}` is read as YAML. */
function isDeviceList(text: string): boolean {
  return /^\ufeff?\s*(?:\[|\{[^{[]*"inventory"\s*:)/.test(text);
}
