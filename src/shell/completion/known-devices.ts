import { formatAddress, parseAddress } from '../../device/address.ts';
import { DevshError } from '../../errors.ts';
import { Inventory } from '../../fleet/inventory.ts';
import { selectDevices, type DeviceEntry } from '../../fleet/selector.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { Services } from '../session.ts';
import type { Candidate, KnownDevice } from '../grammar/spec.ts';

/** So many files are read for one completion; the keys of more devices are much the same. */
const MOST_FILES = 64;

/** What completion looks at; a `Session` is one. */
export interface CompletionSources {
  readonly fleet: Fleet;
  readonly services: Pick<Services, 'history' | 'inventory' | 'runs' | 'seenKeys'>;
  /** The files that a word may name; absent where another shell knows them. */
  readonly files?: (typed: string) => Promise<readonly Candidate[]>;
}

/**
 * The devices that a line is about, for completion: those it names, else the selection, else (nothing
 * is connected yet) those of the inventory. Never touches the network.
 */
export async function knownDevices(
  session: CompletionSources,
  selectors: readonly string[],
): Promise<readonly KnownDevice[]> {
  const { fleet, services } = session;
  const entries = await entriesOf(session, selectors);
  const members = new Map(fleet.known.map((member) => [member.ref.name, member]));
  return Promise.all(
    entries.map(async ({ name, address }, index) => {
      const member = members.get(name);
      const remembered = index < MOST_FILES ? await services.seenKeys.of(normal(address)) : {};
      return {
        name,
        seen: (resource: string) => member?.seen(resource),
        remembered: (resource: string) =>
          Object.hasOwn(remembered, resource) ? remembered[resource] : undefined,
      };
    }),
  );
}

async function entriesOf(
  { fleet, services }: CompletionSources,
  selectors: readonly string[],
): Promise<readonly DeviceEntry[]> {
  const selected = fleet.selection.map(({ entry }) => entry);
  if (selectors.length === 0 && selected.length > 0) return selected;
  try {
    const { devices } = await services.inventory.load();
    const connected = fleet.connected.map(({ entry }) => entry);
    const others = devices.filter(({ name }) => !connected.some((one) => one.name === name));
    const all = [...connected, ...others];
    return selectors.length === 0 ? all : selectDevices(selectors, new Inventory(all));
  } catch (error) {
    // Half a selector, or a broken inventory: told when the line is run.
    if (error instanceof DevshError) return selected;
    throw error;
  }
}

function normal(address: string): string {
  return formatAddress(parseAddress(address));
}
