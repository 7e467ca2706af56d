import { detailLines } from './detail-lines.ts';
import { helpLines } from './help-lines.ts';
import { rollOutLines } from './roll-out-lines.ts';
import { lineText } from '../editor/line.ts';
import type { State } from '../state.ts';
import { wrapText } from '../screen/wrap.ts';

/** The lines of a text that lies over the table, as far as they are shown; lists have none. */
export function overlayLines(state: State): readonly string[] {
  const lines = allLines(state);
  if (!state.find.isOnly || lineText(state.find.editing.line) === '') return lines;
  const search = searcher(state);
  return lines.filter((line) => search(line).length > 0);
}

/** Where a line has what is looked for. Capitals count only when some were typed. */
export function searcher({ find }: Pick<State, 'find'>): (line: string) => number[] {
  const wanted = lineText(find.editing.line);
  const isExact = wanted !== wanted.toLowerCase();
  return (line) => {
    const places: number[] = [];
    if (wanted === '') return places;
    const text = isExact ? line : line.toLowerCase();
    const needle = isExact ? wanted : wanted.toLowerCase();
    for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) {
      places.push(at);
    }
    return places;
  };
}

/** Wrapped to the screen. */
function allLines(state: State): readonly string[] {
  const { overlay, size } = state;
  switch (overlay.kind) {
    case 'pager':
      return wrapAll(overlay.lines, size.columns - 2);
    case 'roll-out':
      return rollOutLines(overlay.rollOut, size.columns - 2).map(({ text }) => text);
    case 'help':
      return helpLines(state);
    case 'details':
      return detailLines(state, overlay.details);
    case 'none':
    case 'runs':
    case 'devices':
    case 'resources':
    case 'drift':
    case 'questions':
      return [];
  }
}

const wrapped = new WeakMap<readonly string[], { width: number; lines: readonly string[] }>();

/** A long text is wrapped once, not at each key. */
function wrapAll(lines: readonly string[], width: number): readonly string[] {
  const known = wrapped.get(lines);
  if (known?.width === width) return known.lines;
  const result = lines.flatMap((line) => wrapText(line, width, '    '));
  wrapped.set(lines, { width, lines: result });
  return result;
}
