import type { TableOutput } from '../../shell/output.ts';
import { visible } from '../../text/visible.ts';
import { namesText } from './plan-lines.ts';
import type { Offer, State } from '../state.ts';
import type { ListSource } from './arrange.ts';
import { fieldOf, listLines, recordBy, type ListColumn, type ListView } from './list-view.ts';

/** The rows of the command `resources`. */
export function offersOf({ rows }: TableOutput): Offer[] {
  return rows.map(({ resource, devices }) => ({
    resource: typeof resource === 'string' ? resource : '',
    devices: Array.isArray(devices) ? devices.map(String) : [],
  }));
}

/** What the devices have, who has it, and how much of it was seen. */
export function resourceList(
  state: State,
  offers: readonly Offer[],
  cursor: number,
  width: number,
): ListView {
  const { header, lines } = listLines(offers, offerColumns(state), width);
  return {
    header,
    count: lines.length,
    row: (index) => ({ text: lines[index] ?? '', tone: 'plain' }),
    cursor,
    empty: 'the devices have not said what they offer',
  };
}

export function resourceSource(state: State, items: readonly Offer[]): ListSource<Offer> {
  const columns = offerColumns(state);
  return {
    items,
    idOf: ({ resource }) => resource,
    fields: columns.map(fieldOf),
    recordOf: (offer) => ({ ...recordBy(columns)(offer), devices: offer.devices }),
  };
}

function offerColumns({ fleet }: State): ListColumn<Offer>[] {
  const seen = ({ resource, devices }: Offer): string => {
    const counts = fleet.devices
      .filter(({ name }) => devices.includes(name))
      .flatMap(({ facts }) => facts?.counts.filter((count) => count.resource === resource) ?? []);
    return counts.length === 0 ? '' : String(counts.reduce((sum, { count }) => sum + count, 0));
  };
  return [
    { title: 'RESOURCE', text: ({ resource }) => visible(resource), most: 32, rank: 0 },
    { title: 'RECORDS', text: seen, most: 8, rank: 2 },
    {
      title: 'DEVICES',
      text: ({ devices }) => {
        return devices.length > 1 && devices.length === fleet.selected.length
          ? `all ${devices.length}`
          : namesText(devices);
      },
      most: 60,
      rank: 1,
    },
  ];
}
