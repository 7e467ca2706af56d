import { formatAddress, parseAddress } from '../../device/address.ts';
import { isResourceName } from '../../device/profile.ts';
import { DevshError } from '../../errors.ts';
import { hasUnsafe } from '../../text/visible.ts';
import { COMMANDS } from '../commands/index.ts';
import { resourceCommand } from '../commands/resource.ts';
import { complete } from './complete.ts';
import type { CompletionSources } from './known.ts';
import { quoteLine } from '../../text/words.ts';
import type { Answer, Asked } from './shells.ts';

/** So many files of devices are looked at for the names of resources. */
const MOST_DEVICES = 64;

/** What may stand in place of the word that is asked for; from files, never from a device. */
export async function answer(asked: Asked, sources: CompletionSources): Promise<Answer> {
  const line = quoteLine([...asked.before, asked.typed]);
  const resources = await resourcesSeen(sources);
  const commands = [...COMMANDS, ...resources.map(resourceCommand)];
  const { proposals, takesFile = false } = await complete(line, line.length, commands, sources);
  // A name that a terminal would obey can be typed in no shell, either.
  return { candidates: proposals.filter(({ text }) => !hasUnsafe(text)), takesFile };
}

/** The resources, besides users, that devices of the inventory were seen to have. */
async function resourcesSeen({ services }: CompletionSources): Promise<readonly string[]> {
  const addresses = await addressesOf(services);
  const seen = await Promise.all(addresses.map((address) => services.seenKeys.of(address)));
  const names = new Set(seen.flatMap((resources) => Object.keys(resources)));
  return [...names].filter(
    (name) => isResourceName(name) && !COMMANDS.some((command) => command.name === name),
  );
}

async function addressesOf({ inventory }: CompletionSources['services']): Promise<string[]> {
  try {
    const { devices } = await inventory.load();
    return devices.slice(0, MOST_DEVICES).map(({ address }) => formatAddress(parseAddress(address)));
  } catch (error) {
    // A broken inventory is reported by the command that needs it, not while typing.
    if (error instanceof DevshError) return [];
    throw error;
  }
}
