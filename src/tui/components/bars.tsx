import { SEPARATOR, shownHints, titleLine } from '../screen/bar-lines.ts';
import { fleetStrip } from '../screen/fleet-strip.ts';
import { plainLine, type Span, widthOfSpans } from '../screen/theme.ts';
import { widthOf } from '../../text/visible.ts';
import { contextOf, hasCommandKeys } from '../keys/keymap.ts';
import { FOCUS_MARK } from '../prompt/input-line.ts';
import { usageSpans } from '../prompt/usage-hint.ts';
import type { LogLine, State } from '../state.ts';
import { Line } from './line.tsx';

interface BarProps {
  readonly state: State;
}

export function StatusBar({ state }: BarProps) {
  const { fleet, size } = state;
  return <Line spans={fleetStrip(state)} ground={fleet.color ?? 'plain'} width={size.columns} />;
}

/** The title of the table or view: its breadcrumbs and facts, and the number of marks. */
export function Title({ state }: BarProps) {
  const { left, right } = titleLine(state);
  const context = contextOf(state);
  const hasKeys = context.startsWith('form') || hasCommandKeys(context);
  const text = left.slice(1);
  const [place = ''] = text.split(SEPARATOR, 1);
  const gap = ' '.repeat(Math.max(0, state.size.columns - widthOf(left) - widthOf(right)));
  const spans: Span[] = [
    { tone: 'heading', text: (hasKeys ? FOCUS_MARK : ' ') + place },
    { tone: 'plain', text: text.slice(place.length) + gap },
    { tone: 'accent', text: right },
  ];
  return <Line spans={spans} />;
}

/** The keys that count now, behind the usage of a typed command. A key that does nothing now is dimmed, in brackets. */
export function Footer({ state }: BarProps) {
  const usage = state.pendingKeys === undefined ? usageSpans(state) : [];
  const used = widthOfSpans(usage);
  // A blank comes first, and the last cell of the screen stays free.
  const room = state.size.columns - 2 - (used === 0 ? 0 : used + SEPARATOR.length);
  const hints = shownHints(state, Math.max(0, room)).map(({ text, isDisabled }): Span[] => [
    { tone: isDisabled ? 'quiet' : 'plain', text },
  ]);
  const spans = [...(used === 0 ? [] : [usage]), ...hints].flatMap((part, index): Span[] => [
    { tone: 'quiet', text: index === 0 ? ' ' : SEPARATOR },
    ...part,
  ]);
  return <Line spans={spans} />;
}

/** The last messages. A success is highlighted by its sign alone. */
export function Messages({ lines }: { readonly lines: readonly LogLine[] }) {
  return lines.map(({ tone, text }, index) => {
    const head = tone === 'good' ? 1 : text.length;
    const spans = [...plainLine(` ${text.slice(0, head)}`, tone), ...plainLine(text.slice(head))];
    return <Line key={index} spans={spans} />;
  });
}
