/** `key_field` becomes `keyField` in the code. */
export type InCode<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<InCode<Rest>>}`
  : Name;

/** The content of a YAML file under its names in the code, at every depth; lists are read-only. */
export type NamedInCode<Content> = Content extends readonly unknown[]
  ? Readonly<Content>
  : Content extends object
    ? { readonly [Name in keyof Content as InCode<Name>]: NamedInCode<Content[Name]> }
    : Content;

export function inCode(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function inYaml(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function namedInYaml(content: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(content).map(([name, value]) => [inYaml(name), value]));
}
