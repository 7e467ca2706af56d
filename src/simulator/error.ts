/** A name that there is not, of which there are others. */
export interface UnknownName {
  readonly kind: 'profile' | 'envelope' | 'paging' | 'quirk' | 'fault';
  readonly name: string;
  readonly known: readonly string[];
}

/** What was asked for cannot be: a number, a name, options that contradict each other, a taken port. */
export class SimulatorError extends RangeError {
  readonly unknown: UnknownName | undefined;

  constructor(message: string, options: ErrorOptions & { unknown?: UnknownName } = {}) {
    super(message, options);
    this.unknown = options.unknown;
  }
}

/** The name, where it is one of these. */
export function known<Name extends string>(
  kind: UnknownName['kind'],
  names: readonly Name[],
  name: string,
): Name {
  const found = names.find((each) => each === name);
  if (found !== undefined) return found;
  // A list of all faults would be no help.
  const others = names.length > 20 ? '' : `; there are ${names.join(', ')}`;
  throw new SimulatorError(`there is no ${kind} "${name}"${others}`, {
    unknown: { kind, name, known: names },
  });
}
