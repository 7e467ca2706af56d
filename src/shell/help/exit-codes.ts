/** What the exit status of a one-shot command means, as `help exit-codes`, man page and README tell it. */
export const EXIT_CODES: readonly { readonly code: string; readonly meaning: string }[] = [
  { code: '0', meaning: 'done, verified' },
  { code: '1', meaning: 'failed' },
  { code: '2', meaning: 'usage' },
  { code: '3', meaning: 'partial: some devices failed or are unknown' },
  { code: '4', meaning: 'authentication or credentials' },
  { code: '5', meaning: 'device unreachable, or its certificate not trusted' },
  { code: '6', meaning: 'refused: confirmation missing, read-only, own-access guard' },
  { code: '7', meaning: 'drift: the device changed since the plan' },
  { code: '8', meaning: '--drift found differences' },
  { code: '70', meaning: 'a bug in devsh' },
  { code: '130', meaning: 'ended by Ctrl-C' },
  { code: '143', meaning: 'ended by SIGTERM' },
];
