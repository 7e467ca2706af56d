/** What a step is about, in words: `user bob`, or `system` where there is one object only. */
export function recordName({
  resource,
  key,
}: {
  readonly resource: string;
  readonly key: string;
}): string {
  return key === '' ? resource : `${resource} ${key}`;
}
