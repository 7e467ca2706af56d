import { DevshError } from '../../errors.ts';
import type { Session } from '../session.ts';

/** What one can begin with: the words to type, and what they do. */
export const FIRST_STEPS: readonly { readonly line: string; readonly summary: string }[] = [
  { line: 'demo', summary: 'three simulated devices on this machine' },
  { line: 'connect 10.0.0.5', summary: 'a device at an address; several with spaces between' },
  {
    line: 'device import ~/.ssh/config',
    summary: 'your inventory: CSV, ssh, Ansible or NetBox',
  },
  { line: 'device add fw1 10.0.0.5', summary: 'a name for a device, kept in the inventory' },
  { line: 'help', summary: 'all commands' },
];

/** Whether nothing is there yet: no device in the inventory, none pinned, no line in the history. */
export async function isFirstRun({ services, fleet }: Session): Promise<boolean> {
  if (fleet.known.length > 0) return false;
  try {
    const { devices } = await services.inventory.load();
    if (devices.length > 0) return false;
    const [pins, lines] = await Promise.all([services.knownDevices.all(), services.history.load()]);
    return pins.length === 0 && lines.length === 0;
  } catch (error) {
    // Files that cannot be read are no first run; who needs them says what is wrong.
    if (error instanceof DevshError) return false;
    throw error;
  }
}

/** The same as lines: `  demo    three simulated devices …`. */
export function firstStepLines(inventory: string): string[] {
  const width = Math.max(...FIRST_STEPS.map(({ line }) => line.length));
  return [
    'Nothing is set up yet. Type one of these:',
    ...FIRST_STEPS.map(({ line, summary }) => `  ${line.padEnd(width)}   ${summary}`),
    `An inventory of your own goes to ${inventory}.`,
  ];
}
