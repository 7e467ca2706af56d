import { hideSecrets } from '../../shell/access/hide-secrets.ts';
import { cut, widthOf } from '../../text/width.ts';
import { visible } from '../../text/visible.ts';
import { namesText } from './plan-lines.ts';
import type { Overlay, State } from '../state.ts';
import { tableId } from './trail.ts';

const ARROW = ' › ';
/** A command that is the name of a view. */
const MOST_NAME = 40;

/** `devices › fw1 › users › bob`: where one is, and what Esc goes back to. */
export function crumbs(state: State): string[] {
  const { trail, overlay, table, tables } = state;
  const here = { table: tableId(table), overlay };
  const places = [...trail, here];
  const names = places.flatMap((place, index) => {
    const isLast = index === places.length - 1;
    if (place.overlay.kind !== 'none') return [overlayName(place.overlay)];
    const shown = place.table === here.table ? table : tables.get(place.table);
    if (shown === undefined) return [];
    const name = `${visible(shown.view.resource)}s`;
    // The filter of what is in sight is told beside it.
    const filter = isLast ? '' : hideSecrets(shown.commandFilter).trim();
    const isNearest = !places.slice(index + 1).some(({ overlay: { kind } }) => kind === 'none');
    return [
      ...(isNearest ? deviceName(state) : []),
      filter === '' ? name : `${name} ${visible(filter)}`,
    ];
  });
  return withoutRepetition(names, state);
}

/** The same table with less in it is named once: the next step says what makes it another. */
function withoutRepetition(names: readonly string[], { overlay, table }: State): string[] {
  return names.map((name, index) => {
    const before = names[index - 1];
    if (before !== undefined && name.startsWith(`${before} `)) return name.slice(before.length + 1);
    const isTable = overlay.kind === 'none' && index === names.length - 1;
    if (!isTable || before !== name) return name;
    return table.commandFilter.trim() === '' ? onDevices(table.scope) : 'filtered';
  });
}

function onDevices(scope: readonly string[] = []): string {
  return scope.length === 0 ? 'all' : `on ${namesText(scope)}`;
}

/** As many steps as fit, the last ones. */
export function crumbText(state: State, width: number): string {
  const all = crumbs(state);
  for (let from = 0; from < all.length; from++) {
    const text = (from > 0 ? `…${ARROW}` : '') + all.slice(from).join(ARROW);
    if (widthOf(text) <= width) return text;
  }
  return cut(all.at(-1) ?? '', width);
}

/** The one device that the table is about, where there are others. */
function deviceName({ fleet, table }: State): string[] {
  const [only, ...others] = table.scope ?? fleet.selected;
  const isOne = only !== undefined && others.length === 0;
  return isOne && fleet.devices.length > 1 ? [visible(only)] : [];
}

function overlayName(overlay: Overlay): string {
  switch (overlay.kind) {
    case 'none':
      return '';
    case 'pager':
      return cut(overlay.title, MOST_NAME);
    case 'help':
      return 'keys';
    case 'details':
      return visible(overlay.details.key);
    case 'drift':
      return `${visible(overlay.output.resource)} drift`;
    case 'roll-out':
    case 'runs':
    case 'devices':
    case 'resources':
    case 'questions':
      return overlay.kind;
  }
}
