import { cut, fit, widthOf } from '../../text/visible.ts';
import { listWindow } from '../views/view.ts';

interface Choice {
  readonly text: string;
  readonly summary: string;
}

/** The choices around the chosen one, in at most `height` lines of `width` cells; the last one says how many follow. */
export function choiceLines(
  choices: readonly Choice[],
  chosen: number,
  { height, width }: { readonly height: number; readonly width: number },
): { readonly at: number; readonly line: string }[] {
  const shown = listWindow(choices, chosen, height);
  const texts = Math.max(0, ...shown.map(({ item }) => widthOf(item?.text ?? '')));
  const widest = Math.min(texts, Math.floor(width / 2));
  const rest = choices.length - 1 - (shown.at(-1)?.at ?? 0);
  return shown.map(({ at, item }, row) => {
    const more = rest > 0 && row === shown.length - 1 ? `  … ${rest} more` : '';
    const line = ` ${fit(item?.text ?? '', widest)}  ${item?.summary ?? ''}`.trimEnd();
    // The number stays visible however long the texts are.
    return { at, line: `${cut(line, width - 1 - widthOf(more))}${more} ` };
  });
}
