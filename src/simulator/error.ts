/** An unknown name, and the names to choose from. */
export interface UnknownName {
  readonly kind: 'profile' | 'envelope' | 'paging' | 'quirk' | 'fault';
  readonly name: string;
  readonly known: readonly string[];
}

/** A wrong number or name, options that contradict each other, or a port in use. */
export class SimulatorError extends RangeError {
  readonly unknown: UnknownName | undefined;

  constructor(message: string, options: ErrorOptions & { unknown?: UnknownName } = {}) {
    super(message, options);
    this.unknown = options.unknown;
  }
}

/** Returns `name` if it is one of `names`. @throws SimulatorError if not */
export function oneOf<Name extends string>(
  kind: UnknownName['kind'],
  names: readonly Name[],
  name: string,
): Name {
  const found = names.find((each) => each === name);
  if (found !== undefined) return found;
  // A list of all faults would not help.
  const hint = names.length > 20 ? '' : `; there are ${names.join(', ')}`;
  throw new SimulatorError(`there is no ${kind} "${name}"${hint}`, {
    unknown: { kind, name, known: names },
  });
}
