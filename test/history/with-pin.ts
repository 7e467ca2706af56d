import {
  type HistoryLine,
  type DeviceIdentity,
  lineText,
  periodName,
} from '../../src/history/replay.ts';

/** A history file as if the device had had another certificate. */
export function withPin(text: string, pin: string): string {
  const identity = JSON.parse(text.split('\n')[0] ?? '') as DeviceIdentity;
  return text
    .replaceAll(periodName(identity), periodName({ ...identity, pin }))
    .replace(identity.pin, pin)
    .replace(/(?:,"sum":\d+)?,"crc":\d+\}$/gm, '}')
    .replace(/^.+\n/gm, (row) => lineText(JSON.parse(row) as HistoryLine));
}
