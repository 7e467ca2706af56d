import { parse, parseDocument } from 'yaml';

/** The text of a profile with these facts in it, comments kept. `facts`: by names as `update.method`. */
export function withFacts(text: string, facts: Readonly<Record<string, string>>): string {
  const document = parseDocument(text, { schema: 'failsafe' });
  for (const [fact, value] of Object.entries(facts)) {
    // A list or a map is written as in YAML: [a, b], {action: add}; {item} is a path.
    const isNested = /^\[.*\]$|^\{[^{}]*:[^{}]*\}$/s.test(value);
    const node: unknown = isNested ? parse(value, { schema: 'failsafe' }) : value;
    document.setIn(fact.split('.'), document.createNode(node));
  }
  return document.toString();
}
