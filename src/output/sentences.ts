import { CHANGE_FILE } from './sentences/change-file.ts';
import { DEVICE } from './sentences/device.ts';
import { FLEET } from './sentences/fleet.ts';
import { HISTORY } from './sentences/history.ts';
import { PLANNING } from './sentences/planning.ts';
import { RESPONSE } from './sentences/response.ts';
import { RUNNING } from './sentences/running.ts';

/**
 * One sentence for each code, or for each kind of what it is about (`is`). `{name}` stands for a value; a function
 * composes what a template cannot.
 */
export const SENTENCES = {
  ...CHANGE_FILE,
  ...DEVICE,
  ...FLEET,
  ...HISTORY,
  ...PLANNING,
  ...RESPONSE,
  ...RUNNING,
} as const;

type Code = keyof typeof SENTENCES;
type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;
type ValuesOf<Sentence> = Sentence extends string
  ? { readonly [Name in NamesIn<Sentence>]: string | number }
  : Sentence extends (values: infer Values) => string
    ? Values
    : {
        [Kind in keyof Sentence]: { readonly is: Kind } & ValuesOf<Sentence[Kind]>;
      }[keyof Sentence];

/** What was found, as data: a code, and the values that its sentence names. */
export type Note = { [C in Code]: { readonly code: C } & ValuesOf<(typeof SENTENCES)[C]> }[Code];

/** The sentence of a note, with its values as they were read; a text is one already. */
export function textOf(what: Note | string): string {
  if (typeof what === 'string') return what;
  const values = what as Readonly<Record<string, unknown>>;
  const found: unknown = SENTENCES[what.code];
  const kinds = found as Readonly<Record<string, unknown>>;
  const sentence = typeof found === 'object' ? kinds[String(values['is'])] : found;
  if (typeof sentence === 'function') return (sentence as (values: Note) => string)(what);
  return String(sentence).replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}
