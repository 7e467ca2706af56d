/** Groups that hold groups: what a device has from afar. Case makes no difference between two names. */
export class GroupTree {
  readonly #parents = new Map<string, string[]>();

  constructor(groups: readonly { readonly name: string; readonly children: readonly string[] }[]) {
    for (const { name, children } of groups) {
      for (const child of children) {
        const parents = this.#parents.get(child.toLowerCase()) ?? [];
        this.#parents.set(child.toLowerCase(), [...parents, name]);
      }
    }
  }

  /** The groups around these, nearest first: they themselves, those that hold them, and so on. */
  levels(own: readonly string[]): string[][] {
    const seen = new Set<string>();
    const levels: string[][] = [];
    let level = own;
    while (level.length > 0) {
      const fresh = level.filter((name) => {
        const isNew = !seen.has(name.toLowerCase());
        seen.add(name.toLowerCase());
        return isNew;
      });
      if (fresh.length > 0) levels.push(fresh);
      level = fresh.flatMap((name) => this.#parents.get(name.toLowerCase()) ?? []);
    }
    return levels;
  }

  /** Whether a group is in itself, by way of others. */
  isInItself(name: string): boolean {
    const parents = this.#parents.get(name.toLowerCase()) ?? [];
    return this.levels(parents).some((level) =>
      level.some((other) => other.toLowerCase() === name.toLowerCase()),
    );
  }
}
