import { resourceWords } from '../../shell/commands/index.ts';
import { counted } from '../../text/one-line.ts';
import { visible } from '../../text/visible.ts';
import { keysOf, lineKey } from '../keys/binding.ts';
import type { Offer, State } from '../state.ts';
import { memoized } from '../store.ts';
import { type ListColumn, type ListOf, listOf, type OverOf } from './view.ts';
import { namesText } from './plan-lines.ts';

/** The resources, their devices, and the known number of records. */
export const RESOURCES: ListOf<OverOf<'resources'>, Offer> = listOf({
  kind: 'resources',
  keys: keysOf('resources', 'In the list of resources', [
    lineKey(
      ['enter'],
      'open-resource',
      'its records',
      (state) => {
        const offer = RESOURCES.current(state);
        return offer && `${resourceWords(offer.resource)} list`;
      },
      { hint: [1, 'open'], command: 'RESOURCE list' },
    ),
  ]),
  breadcrumb: () => 'resources',
  title: ({ resources }, _state, found) => [
    { text: counted(resources.length, 'resource'), rank: 2 },
    found,
  ],
  opening: (output, { command }) =>
    output.kind === 'table' && command.name === 'resources'
      ? {
          kind: 'resources',
          resources: output.rows.map(({ resource, devices }) => ({
            resource: typeof resource === 'string' ? resource : '',
            devices: Array.isArray(devices) ? devices.map(String) : [],
          })),
          cursor: 0,
        }
      : undefined,
  items: ({ resources }) => resources,
  idOf: ({ resource }) => resource,
  columns: (_overlay, { fleet }) => offerColumns(fleet),
  empty: () => 'the devices have not reported their resources',
});

const offerColumns = memoized((fleet: State['fleet']): readonly ListColumn<Offer>[] => {
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
      value: ({ devices }) => devices,
      most: 60,
      rank: 1,
    },
  ];
});
