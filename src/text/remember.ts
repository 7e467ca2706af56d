/** The same function, which keeps its last result for each object, and computes again only for other arguments. */
export function rememberedFor<Key extends object, More extends readonly unknown[], Result>(
  compute: (key: Key, ...more: More) => Result,
): (key: Key, ...more: More) => Result {
  const known = new WeakMap<Key, { readonly more: More; readonly result: Result }>();
  return (key, ...more) => {
    const before = known.get(key);
    if (before?.more.every((one, index) => one === more[index]) === true) return before.result;
    const result = compute(key, ...more);
    known.set(key, { more, result });
    return result;
  };
}
