import { visible } from '../../text/visible.ts';
import { cut } from '../../text/width.ts';
import type { FleetView } from '../state.ts';

const LONGEST = 60;

/** What the window is called: `devsh: fw1, fw2`. */
export function windowTitle({
  devices,
  selected,
}: Pick<FleetView, 'devices' | 'selected'>): string {
  if (devices.length === 0) return 'devsh';
  const isAll = selected.length === devices.length && devices.length > 3;
  return cut(
    `devsh: ${isAll ? `${devices.length} devices` : visible(selected.join(', '))}`,
    LONGEST,
  );
}
