import { cut, widthOf } from '../../text/width.ts';
import type { Span } from '../screen/bar-lines.ts';
import { usageHint } from './hint.ts';
import { SEPARATOR } from '../keys/footer-hints.ts';
import { contextOf } from '../keys/keymap.ts';
import type { State } from '../state.ts';

/** So much of the footer is left for the way out. */
const WAY_OUT = widthOf(`${SEPARATOR}esc table`);

/** Rather than saying less of what comes next, the words before it go. */
const LEAST_SUMMARY = 24;

/** How the command at the prompt goes on, its present word stressed; no longer than there is room. */
export function usageSpans(state: State): Span[] {
  const hint = contextOf(state) === 'prompt' && usageHint(state.prompt.editing.line);
  if (!hint) return [];
  const { parts, summary } = hint;
  const room = state.size.columns - 1 - WAY_OUT;
  const present = parts.filter(({ isPresent }) => isPresent).map(({ text }) => text);
  const usage = parts.flatMap(({ text, isPresent }, index): Span[] => [
    ...(index > 0 ? [{ tone: 'plain' as const, text: ' ' }] : []),
    { tone: isPresent ? 'accent' : 'plain', text },
  ]);
  const used = usage.reduce((sum, { text }) => sum + widthOf(text), 0);
  const said = summary === '' ? '' : `: ${summary}`;
  if (used + Math.min(widthOf(said), LEAST_SUMMARY) <= room)
    return withSummary(usage, cut(said, room - used));
  // What comes next is worth more than what has been typed.
  const short = present.join(' ');
  if (widthOf(short) >= room) return [{ tone: 'accent', text: cut(short, room) }];
  return withSummary([{ tone: 'accent', text: short }], cut(said, room - widthOf(short)));
}

function withSummary(usage: Span[], said: string): Span[] {
  return said === '' ? usage : [...usage, { tone: 'quiet', text: said }];
}
