import { MASK } from './secret-fields.ts';

/** What is shorter stands in too many texts by chance. */
const SHORTEST = 3;
const SHORTEST_CODE = 6;

/**
 * `text` without these secrets, in whatever spelling: a device or a proxy may repeat what it was sent,
 * in a form, a URL, JSON, HTML, hexadecimal or base64.
 */
export function redact(text: string, secrets: readonly string[]): string {
  const found = secrets.flatMap(spellings).filter((spelling) => spelling.length >= SHORTEST);
  if (text === '' || found.length === 0) return text;
  // The longest first: it may hold a shorter one.
  const pattern = [...new Set(found)]
    .sort((a, b) => b.length - a.length)
    .map((spelling) => spelling.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return text.replace(new RegExp(pattern.join('|'), 'gi'), MASK);
}

function spellings(secret: string): string[] {
  const inForm = new URLSearchParams([['', secret]]).toString().slice(1);
  // As UTF-8 can hold it: half a character cannot stand in a URL.
  const inUrl = encodeURIComponent(Buffer.from(secret, 'utf8').toString('utf8'));
  const sent = [...new Set([secret, inForm, inUrl])];
  return [
    ...sent,
    JSON.stringify(secret).slice(1, -1),
    htmlEscaped(secret, '&quot;', '&#39;'),
    htmlEscaped(secret, '&#34;', '&#x27;'),
    ...sent.flatMap(codesOf).filter((code) => code.length >= SHORTEST_CODE),
  ];
}

function codesOf(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  return [bytes.toString('hex'), bytes.toString('base64'), ...base64Codes(bytes)];
}

function htmlEscaped(text: string, quote: string, apostrophe: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', quote)
    .replaceAll("'", apostrophe);
}

/** The letters that stand for these bytes alone, wherever in the encoded text they begin. */
function base64Codes(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const all = Buffer.concat([Buffer.alloc(before), bytes]);
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor((all.length * 8) / 6);
    return (['base64', 'base64url'] as const).map((code) => all.toString(code).slice(first, last));
  });
}
