import type { View } from '../../../src/shell/output.ts';

/** What `export user` yields for each device. */
export const EXPORT_VIEW: View = {
  resource: 'user',
  layout: 'table',
  key: 'username',
  fold: false,
  perDevice: [],
  file: {},
};
