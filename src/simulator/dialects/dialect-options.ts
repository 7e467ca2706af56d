import { UsageError } from '../../errors.ts';
import { suggest } from '../../suggest.ts';
import {
  createDialect,
  ENVELOPE_NAMES,
  PAGING_NAMES,
  PROFILE_NAMES,
  type DialectOptions,
} from './dialect.ts';
import { QUIRKS } from './quirks.ts';

/** The options of the command line, as text. */
export interface DialectText {
  readonly profile: string | undefined;
  readonly envelope: string | undefined;
  readonly paging: string | undefined;
  readonly quirks: readonly string[];
}

/** @throws UsageError for a name that there is not, or for what cannot go together. */
export function parseDialectOptions(text: DialectText): DialectOptions {
  const profile = oneOf('profile', PROFILE_NAMES, text.profile);
  const envelope = oneOf('envelope', ENVELOPE_NAMES, text.envelope);
  const paging = oneOf('paging', PAGING_NAMES, text.paging);
  const names = QUIRKS.map(({ name }) => name);
  const quirk = text.quirks.flatMap((name) => oneOf('quirk', names, name) ?? []);
  const options = {
    ...(profile !== undefined && { profile }),
    ...(envelope !== undefined && { envelope }),
    ...(paging !== undefined && { paging }),
    ...(quirk.length > 0 && { quirk }),
  };
  try {
    createDialect(options);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
  return options;
}

function oneOf<Name extends string>(
  option: string,
  names: readonly Name[],
  text: string | undefined,
): Name | undefined {
  if (text === undefined) return undefined;
  const name = names.find((known) => known === text);
  if (name !== undefined) return name;
  throw new UsageError(`--${option}: there is no "${text}"; there are ${names.join(', ')}`, {
    suggestions: suggest(text, names),
  });
}
