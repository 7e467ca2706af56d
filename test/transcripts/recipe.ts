import { parseTranscript, type Entry, type Setup } from './transcript.ts';

/** One incident of docs/recipes.md: its setup, and its text in parts. */
export interface Recipe {
  readonly title: string;
  readonly setup: Setup;
  readonly parts: readonly Part[];
}

export type Part =
  | Entry
  /** A block that starts with `# change.yaml`: a file for the commands. */
  | {
      readonly kind: 'file';
      readonly name: string;
      readonly content: string;
      readonly text: string;
    };

/**
 * Parses the recipes of a Markdown file. A comment `<!-- = devices=3 login … -->` is the setup of a
 * section, `<!-- * sim2 refuse on -->` switches a fault, and a `console` block is a transcript.
 */
export function parseRecipes(markdown: string): { head: string; recipes: Recipe[] } {
  // A fence may contain headings: a recipe begins only with a heading and a setup.
  const [head = '', ...sections] = markdown.split(/^(?=## .*\n\n<!-- = )/m);
  return { head, recipes: sections.map(parseRecipe) };
}

function parseRecipe(section: string): Recipe {
  const setupText = /^<!-- (= .*) -->$/m.exec(section)?.[1] ?? '';
  // Every second part is a fence.
  const pieces = section.split(/^(```\w+\n[\s\S]*?^```\n)/m);
  const parts = pieces.flatMap((piece, index): Part[] => {
    if (index % 2 === 0) return proseParts(piece);
    if (piece.startsWith('```console\n')) return consoleParts(piece);
    const [, name = '', content = ''] = /^```\w+\n# (\S+)\n([\s\S]*?)^```\n$/m.exec(piece) ?? [];
    return [
      name === '' ? { kind: 'note', text: piece } : { kind: 'file', name, content, text: piece },
    ];
  });
  const { setup } = parseTranscript(setupText);
  return { title: /^## (.*)$/m.exec(section)?.[1] ?? '', setup, parts };
}

function proseParts(prose: string): Part[] {
  return prose.split(/^(<!-- \* .* -->\n)/m).map((piece): Part => {
    const [, device, fault = '', state] = /^<!-- \* (\S+) (\S+) (on|off) -->\n$/.exec(piece) ?? [];
    return device === undefined
      ? { kind: 'note', text: piece }
      : { kind: 'fault', device, fault, isOn: state === 'on', text: piece };
  });
}

function consoleParts(fenced: string): Part[] {
  const inner = fenced.replace(/^```console\n/, '').replace(/```\n$/, '');
  const { entries } = parseTranscript(`=\n${inner}`);
  // Each entry ends with a line end; no empty line follows the last one.
  return [
    { kind: 'note', text: '```console\n' },
    ...entries.filter(({ kind }) => kind === 'command'),
    { kind: 'note', text: '```\n' },
  ];
}

/** The parts as Markdown. */
export function recipeText(parts: readonly string[]): string {
  // All entries of a block but the last one end with an empty line.
  return parts
    .map((text, index) => {
      if (!text.startsWith('$ ')) return text;
      return parts[index + 1] === '```\n' ? `${text.trimEnd()}\n` : `${text.trimEnd()}\n\n`;
    })
    .join('');
}
