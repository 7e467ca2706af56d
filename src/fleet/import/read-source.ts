import { UsageError } from '../../errors.ts';
import { parseAnsible } from './ansible.ts';
import { parseCsvDevices, parseDeviceList, parseDevicesYaml } from './device-list.ts';
import { asList, asObject, type Findings, readJson, type SourceKind } from './source.ts';
import { netBoxDevices } from './netbox.ts';
import { parseSshConfig, type ReadIncluded } from './ssh-config.ts';

/** Parses a source by its kind. Throws a UsageError that names the file. */
export async function readSource(
  kind: SourceKind,
  text: string,
  file: string,
  readIncluded: ReadIncluded,
): Promise<Findings> {
  switch (kind) {
    case 'csv':
      return parseCsvDevices(text, file);
    case 'ssh':
      return parseSshConfig(text, file, readIncluded);
    case 'ansible':
      if (!/^\ufeff?\s*\{/.test(text)) throw notListed(file);
      return parseAnsible(text, file);
    case 'netbox': {
      const results = asList(asObject(readJson(text, file))?.['results']);
      return netBoxDevices(
        results.map(asObject).filter((record) => record !== undefined),
        file,
      );
    }
    case 'devices':
      return isDeviceList(text) ? parseDeviceList(text, file) : parseDevicesYaml(text, file);
  }
}

/** `device list --json` or a bare list; `{"devices": […]}` is read as YAML. */
function isDeviceList(text: string): boolean {
  return /^\ufeff?\s*(?:\[|\{[^{[]*"inventory"\s*:)/.test(text);
}

function notListed(file: string): UsageError {
  return new UsageError(
    `only Ansible can read ${file}: "--from ansible" runs ansible-inventory ` +
      '(which runs the scripts and plugins of the inventory)',
  );
}
