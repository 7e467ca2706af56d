import type { Settings } from './settings.ts';

/** Which columns the user wants for a resource of devices of one profile, from session to session. */
export class ColumnMemory {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Undefined where they are chosen by content. */
  recall(profile: string, resource: string): readonly string[] | undefined {
    const columns = this.#settings.get('columns') ?? {};
    const name = nameOf(profile, resource);
    return Object.hasOwn(columns, name) ? columns[name] : undefined;
  }

  /** `undefined` forgets them. Throws SettingsError when the file cannot be written. */
  async keep(
    profile: string,
    resource: string,
    columns: readonly string[] | undefined,
  ): Promise<void> {
    const name = nameOf(profile, resource);
    await this.#settings.change('columns', (all = {}) => {
      const others = Object.entries(all).filter(([other]) => other !== name);
      const kept = columns === undefined ? others : [...others, [name, columns] as const];
      return kept.length === 0 ? undefined : Object.fromEntries(kept);
    });
  }
}

function nameOf(profile: string, resource: string): string {
  return `${profile}/${resource}`;
}
