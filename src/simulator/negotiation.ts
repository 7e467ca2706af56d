/** How an answer is written: what Django REST Framework calls renderers, in their order there. */
export type Rendering = 'json' | 'html';

const RENDERINGS: readonly (readonly [Rendering, type: string])[] = [
  ['json', 'application/json'],
  ['html', 'text/html'],
];

interface MediaRange {
  readonly type: string;
  /** 0 for any type, 1 for `text/*`, 2 for a type, 3 for a type with parameters. */
  readonly precision: number;
}

function parseRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  if (type === '*/*') return { type, precision: 0 };
  if (type.endsWith('/*')) return { type, precision: 1 };
  const hasParameters = parameters.some((parameter) => !parameter.startsWith('q='));
  return { type, precision: hasParameters ? 3 : 2 };
}

function matches(range: string, type: string): boolean {
  return range === '*/*' || range === type || range === `${type.split('/')[0] ?? ''}/*`;
}

/** As the framework does it: precise ranges first, then the server's own order; `q` plays no part. */
export function negotiate(accept: string | undefined): Rendering | undefined {
  const ranges = (accept ?? '*/*').split(',').map(parseRange);
  for (const precision of [3, 2, 1, 0]) {
    const level = ranges.filter((range) => range.precision === precision);
    for (const [rendering, type] of RENDERINGS) {
      if (level.some((range) => matches(range.type, type))) return rendering;
    }
  }
  return undefined;
}
