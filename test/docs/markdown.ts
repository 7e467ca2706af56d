/** A fenced block: its language, its text, and the line of the file that it begins in, from 1. */
export interface Block {
  readonly language: string;
  readonly text: string;
  readonly line: number;
}

const FENCE = /^( *)```(\w*)\n([\s\S]*?)^ *```$/gm;

/** The fenced blocks, with the indentation of their fence taken off. */
export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(FENCE)].map((match) => {
    const [, indent = '', language = '', text = ''] = match;
    return {
      language,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      line: markdown.slice(0, match.index).split('\n').length,
    };
  });
}

/** What stands outside of fences. */
export function proseOf(markdown: string): string {
  return markdown.replaceAll(FENCE, '');
}

/** The pieces of code in running text: `` `devsh runs` ``. */
export function inlineCode(markdown: string): string[] {
  return [...proseOf(markdown).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

/** Where links and pictures lead. */
export function linksOf(markdown: string): string[] {
  const text = proseOf(markdown).replaceAll(/`[^`\n]*`/g, 'code');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

/** The headings with their anchors, as GitHub makes them: `## Beyond one machine` is `beyond-one-machine`. */
export function anchorsOf(markdown: string): string[] {
  const headings = [...proseOf(markdown).matchAll(/^#{1,6} (.+)$/gm)].map(([, text = '']) => text);
  return anchorsFor(headings);
}

/** The anchors of these headings of one page; one that is there already gets a number. */
export function anchorsFor(headings: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return headings.map((heading) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}
