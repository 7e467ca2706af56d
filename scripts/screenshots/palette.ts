/** The first 16 colours of a dark terminal. */
const BASE = [
  ['#1b222c', '#f47067', '#57ab5a', '#c69026', '#539bf5', '#b083f0', '#39c5cf', '#adbac7'],
  ['#768390', '#ff938a', '#8ddb8c', '#f0d264', '#86b9ff', '#d2b0ff', '#6fdce4', '#ffffff'],
].flat();

/** The levels of one channel in the cube of 216 colours. */
const STEPS = [0, 95, 135, 175, 215, 255];

/** Converts a palette number of xterm, or 0xRRGGBB from 256 on, to SVG. */
export function indexedColor(color: number): string {
  if (color < 16) return BASE[color] ?? '#000000';
  if (color >= 256) return hex(color);
  if (color >= 232) return hex((8 + (color - 232) * 10) * 0x010101);
  const [red, green, blue] = [36, 6, 1].map(
    (size) => STEPS[Math.floor((color - 16) / size) % 6] ?? 0,
  );
  return hex(((red ?? 0) << 16) | ((green ?? 0) << 8) | (blue ?? 0));
}

function hex(color: number): string {
  return `#${color.toString(16).padStart(6, '0')}`;
}
