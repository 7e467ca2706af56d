import { resourceWords } from '../../shell/commands/index.ts';
import { counted } from '../../text/one-line.ts';
import { visible } from '../../text/visible.ts';
import { keysOf, lineKey } from '../keys/binding.ts';
import type { Offer, State } from '../state.ts';
import {
  arranged,
  fittedColumns,
  type ListColumn,
  listOf,
  type ListSource,
  type OverOf,
  sourceOf,
} from './view.ts';
import { namesText } from './plan-lines.ts';

type ResourcesOver = OverOf<'resources'>;

function source({ resources }: ResourcesOver, state: State): ListSource<Offer> {
  const base = sourceOf(resources, ({ resource }) => resource, offerColumns(state));
  return { ...base, recordOf: (offer) => ({ ...base.recordOf(offer), devices: offer.devices }) };
}

/** The line that opens the table of the current resource. */
function openLine(state: State): string | undefined {
  const { overlay, find } = state;
  if (overlay.kind !== 'resources') return undefined;
  const offer = arranged(source(overlay, state), find)[overlay.cursor];
  return offer && `${resourceWords(offer.resource)} list`;
}

/** The resources, their devices, and the known number of records. */
export const RESOURCES = listOf<ResourcesOver, Offer>({
  keys: keysOf('resources', 'In the list of resources', [
    lineKey(['enter'], 'open-resource', 'its records', openLine, {
      hint: [1, 'open'],
      command: 'RESOURCE list',
    }),
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
  source,
  draw: (offers, _overlay, state, width) => fittedColumns(offers, offerColumns(state), width),
  empty: () => 'the devices have not reported their resources',
});

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
