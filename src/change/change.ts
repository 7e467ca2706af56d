import type { DeviceRecord } from '../device/record.ts';

/** Which records a change is about: one by natural key or id, or all that a filter picks. */
export type Target =
  | { readonly kind: 'key'; readonly key: string }
  | {
      readonly kind: 'where';
      readonly text: string;
      readonly picks: (record: DeviceRecord) => boolean;
    };

/** What the user wants of every selected device. The only way to write starts here. */
export type Change =
  | { readonly action: 'add'; readonly resource: string; readonly fields: DeviceRecord }
  | {
      readonly action: 'set';
      readonly resource: string;
      readonly target: Target;
      readonly fields: DeviceRecord;
    }
  | { readonly action: 'delete'; readonly resource: string; readonly target: Target };
