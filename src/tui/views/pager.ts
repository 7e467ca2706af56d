import { cut } from '../../text/visible.ts';
import { VERDICT_MARKS } from '../../output/change-text.ts';
import { plainLine, type TextLine } from '../screen/theme.ts';
import { memoized } from '../store.ts';
import { wrapText } from '../../text/wrap.ts';
import type { State } from '../state.ts';
import type { OverOf, View } from './view.ts';

type PagerOver = OverOf<'pager'>;

/** A longer command is cut as the name of a view. */
const MOST_NAME = 40;

const RULE = /^─+$/;
/** Matches the heads of a printed table, which have only capitals. */
const HEAD = /^[A-Z][-A-Z0-9 ]+$/;

/** Long output of commands, and the list of messages. */
export const PAGER: View<PagerOver> = {
  breadcrumb: ({ title }) => cut(title, MOST_NAME),
  id: ({ title }) => title,
  lines: ({ linesAt }, { size }) => wrapAll(linesAt(size.columns - 2), size.columns - 2),
};

/** The tone of a line that begins with the sign of a verdict. */
export function signTone(line: string) {
  return Object.values(VERDICT_MARKS).find(({ mark }) => line.startsWith(`${mark} `))?.tone;
}

/** Cached, so that a long text is not wrapped again at each key. */
const wrapAll = memoized((lines: readonly string[], width: number): readonly TextLine[] => {
  const wrapped = lines.flatMap((line) => wrapText(line, width, '    '));
  return wrapped.map((line, index) => {
    const isHeading = RULE.test(wrapped[index + 1] ?? '');
    return plainLine(line, isHeading ? 'heading' : HEAD.test(line) ? 'head' : signTone(line));
  });
});

/** All messages of the session, scrolled to the newest. */
export function messagesOf({ log }: State): PagerOver {
  const linesAt = memoized((columns: number): readonly string[] =>
    log.all.length === 0
      ? ['no messages yet']
      : log.all.flatMap(
          ({ text, whole = text, linesAt: printed }) => printed?.(columns) ?? [whole],
        ),
  );
  return { kind: 'pager', title: 'messages', linesAt, top: Infinity };
}
