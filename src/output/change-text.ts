import type { ChangeOutput } from '../shell/output.ts';
import { visible } from '../visible.ts';
import type { Style, Tone } from './style.ts';
import { quotedText } from './value.ts';
import { valueAt } from '../value-at.ts';

const SIGNS = { added: '+', removed: '-', changed: '~' } as const;
const TONES: Readonly<Record<keyof typeof SIGNS, Tone>> = {
  added: 'good',
  removed: 'bad',
  changed: 'warning',
};

/** `12:03:05 ~ fw1 user bob: lang en -> de`. */
export function changeLine({ at, device, view, change }: ChangeOutput, style: Style): string {
  const { kind, record } = change;
  const named = [visible(device.name), visible(view.resource), visible(change.key)];
  const what =
    kind === 'changed'
      ? change.fields.map((field) => {
          const [old, now] = [change.before, record].map((one) =>
            quotedText(field, valueAt(one, field)),
          );
          return `${visible(field)} ${old} -> ${now}`;
        })
      : [kind];
  const head = `${clockText(at)} ${style(TONES[kind], SIGNS[kind])}`;
  return `${head} ${named.filter((word) => word !== '').join(' ')}: ${what.join(', ')}`;
}

/** In the time of this place, as on the wall. */
function clockText(at: Date): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
}
