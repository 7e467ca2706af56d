import { FLEET } from './sentences/fleet.ts';

/** One sentence for each code. `{name}` stands for a value; a function composes what a template cannot. */
export const SENTENCES = { ...FLEET } as const;

type Code = keyof typeof SENTENCES;
type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;
type ValuesOf<Sentence> = Sentence extends (values: infer Values) => string
  ? Values
  : { readonly [Name in NamesIn<Sentence>]: string | number };

/** What was found, as data: a code, and the values that its sentence names. */
export type Note = { [C in Code]: { readonly code: C } & ValuesOf<(typeof SENTENCES)[C]> }[Code];

/** The sentence of a note, with its values as they were read; a text is one already. */
export function textOf(what: Note | string): string {
  if (typeof what === 'string') return what;
  const sentence: unknown = SENTENCES[what.code];
  if (typeof sentence === 'function') return (sentence as (values: Note) => string)(what);
  const values = what as Readonly<Record<string, unknown>>;
  return String(sentence).replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}
