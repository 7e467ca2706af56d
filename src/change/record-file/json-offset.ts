/** Where in a JSON text the value at a path begins; at the nearest one above it where there is none. */
export function jsonOffset(text: string, path: readonly (string | number)[]): number {
  let at = skipBlanks(text, text.startsWith('\ufeff') ? 1 : 0);
  for (const part of path) {
    const below = text[at] === '{' ? member(text, at, part) : element(text, at, part);
    if (below === undefined) return at;
    at = below;
  }
  return at;
}

/** Of a name that is there twice, the last counts. */
function member(text: string, object: number, name: string | number): number | undefined {
  let found: number | undefined;
  for (let at = skipBlanks(text, object + 1); text[at] === '"';) {
    const keyEnd = endOfString(text, at);
    const key: unknown = JSON.parse(text.slice(at, keyEnd));
    const value = skipBlanks(text, skipBlanks(text, keyEnd) + 1);
    if (key === name) found = value;
    at = next(text, value);
  }
  return found;
}

function element(text: string, list: number, index: string | number): number | undefined {
  if (text[list] !== '[') return undefined;
  let at = skipBlanks(text, list + 1);
  for (let place = 0; place !== index && at < text.length; place += 1) at = next(text, at);
  return at < text.length ? at : undefined;
}

/** Where the value behind this one begins, and the comma. */
function next(text: string, value: number): number {
  const end = skipBlanks(text, endOfValue(text, value));
  return text[end] === ',' ? skipBlanks(text, end + 1) : text.length;
}

function endOfValue(text: string, from: number): number {
  let level = 0;
  let at = from;
  while (at < text.length) {
    const character = text[at] ?? '';
    if (character === '"') {
      at = endOfString(text, at);
      if (level === 0) return at;
      continue;
    }
    if (level === 0 && /[,\]}\s]/.test(character)) return at;
    if (character === '{' || character === '[') level += 1;
    if (character === '}' || character === ']') level -= 1;
    at += 1;
    if (level === 0 && (character === '}' || character === ']')) return at;
  }
  return at;
}

function endOfString(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text[at] ?? '')) at += 1;
  return at;
}
