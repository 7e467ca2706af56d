import type { DeviceRecord, Value } from '../../device/record.ts';
import { JsonFailure, parseJson } from '../../device/json.ts';
import { oneLine } from '../../text/one-line.ts';
import { valueText } from '../../device/value-text.ts';
import { UsageError } from '../../errors.ts';
import { quoteAssignment, type Word } from '../../text/words.ts';
import type { ArgSpec } from '../command.ts';

/** `TARGET…`: devices by name, address, range, network or group. */
export const TARGETS: ArgSpec = {
  name: 'TARGET',
  summary: 'name, address, host:port, 10.0.0.[5-9], 10.0.0.0/29, @group, !but-not',
  isRest: true,
  complete: (scope) => scope.targets,
};

/** The same, where at least one is needed. */
export const SOME_TARGETS: ArgSpec = { ...TARGETS, isRequired: true };

/** One device by its name or address. */
export function oneDevice(name: string, summary: string, isRequired = false): ArgSpec {
  const complete: ArgSpec['complete'] = ({ targets }) =>
    targets.filter(({ text }) => !text.startsWith('@'));
  return { name, summary, isRequired, complete };
}

/** The devices of this session, or `all`. */
export const CONNECTED: ArgSpec = {
  name: 'SELECTOR',
  summary: 'which of the connected devices (names, @group, !but-not, all)',
  isRest: true,
  complete: ({ fleet }) => [
    ...fleet.connected.map(({ ref }) => ({ text: ref.name, summary: ref.address })),
    { text: 'all', summary: 'all connected devices' },
  ],
};

/** `field=value` words as fields; each field once. */
export function fieldsOf(words: readonly Word[]): DeviceRecord {
  const fields: Record<string, Value> = {};
  for (const { text, start } of words) {
    const at = text.indexOf('=');
    if (at < 1) {
      throw notAssigned(text, start);
    }
    const field = text.slice(0, at);
    if (Object.hasOwn(fields, field)) {
      throw new UsageError(`${oneLine(field)} is given twice: leave one of them out`, {
        column: start,
      });
    }
    Object.defineProperty(fields, field, {
      value: text.slice(at + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return fields;
}

/** `field=value` and `field:=JSON` words: what a new record is to have, or a changed one. */
export function changeFields(words: readonly Word[]): { fields: DeviceRecord; asJson?: string[] } {
  const asJson: string[] = [];
  const plain = words.map((word): Word => {
    const [, field, json] = /^([^=]+):=(.*)$/s.exec(word.text) ?? [];
    if (field === undefined || json === undefined) return word;
    asJson.push(field);
    return { ...word, text: `${field}=${json}` };
  });
  const said = Object.entries(fieldsOf(plain));
  const fields = said.map(([field, text], index): [string, Value] =>
    asJson.includes(field) ? [field, jsonOf(valueText(text), plain[index])] : [field, text],
  );
  return { fields: Object.fromEntries(fields), ...(asJson.length > 0 && { asJson }) };
}

function jsonOf(text: string, word: Word | undefined): Value {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonFailure)) throw error;
    throw new UsageError(
      `behind := stands JSON, as in mtu:=1500 or 'states:=["OK"]': ${error.message}`,
      { column: word?.start },
    );
  }
}

/** `likely`: the field that a word alone is likely to be the value of, unless it names the field itself. */
export function notAssigned(text: string, column: number, likely?: string): UsageError {
  const field = text === likely ? undefined : likely;
  const says = text.startsWith('=') ? 'names no field' : 'is not field=value';
  const example = field === undefined ? 'lang=de' : quoteAssignment(field, text);
  return new UsageError(`"${oneLine(text)}" ${says}: write it as in ${oneLine(example)}`, {
    column,
    suggestions: field === undefined ? [] : [example],
  });
}
