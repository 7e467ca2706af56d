import { join } from 'node:path';
import { builtIn } from '../device/built-in-profiles.ts';
import { jsonText } from '../device/json-text.ts';
import type { Learned } from '../device/learned-schema.ts';
import type { Profile } from '../device/profile.ts';
import { SettingsError, UsageError } from '../errors.ts';
import { readText, writeTextAtomically } from './files.ts';
import { withLock } from './lock.ts';
import { isSealed, seal } from './seal.ts';
import { isInProfiles, isLearned } from './resource-names.ts';

/** Profiles that the user wrote, and what was learned of each device. */
export class ProfileFiles {
  readonly folder: string;
  readonly #learnedFolder: string;
  readonly #profiles = new Map<string, Promise<Profile>>();

  /**
   * @param folder of `NAME.yaml`, in the configuration
   * @param learnedFolder one file for each device, in the cache
   */
  constructor(folder: string, learnedFolder: string) {
    this.folder = folder;
    this.#learnedFolder = learnedFolder;
  }

  /** A profile by name: built in, or a file of the user's. Throws a SettingsError. */
  profile(name: string): Promise<Profile> {
    const known = this.#profiles.get(name);
    if (known !== undefined) return known;
    const profile = this.#read(name);
    this.#profiles.set(name, profile);
    return profile;
  }

  /** Whether devices or profiles were seen to have a resource of this name. */
  knowsResource(name: string): boolean {
    return isInProfiles(name, this.folder) || isLearned(name, this.#learnedFolder);
  }

  /** What was learned of a device; undefined when nothing was, or it cannot be read (it is a cache). */
  async learned(address: string): Promise<Learned | undefined> {
    try {
      const text = await readText(this.#learnedPath(address));
      if (text === undefined) return undefined;
      const data: unknown = JSON.parse(text);
      if (isSealed(data)) return data as Learned;
      const { learnedSchema } = await import('../device/learned-schema.ts');
      const result = learnedSchema.safeParse(data);
      return result.success ? result.data : undefined;
    } catch (error) {
      if (error instanceof SettingsError || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  /** Keeps what `change` makes of what was learned of a device before; resolves to that. */
  async updateLearned(
    address: string,
    change: (held: Learned | undefined) => Learned,
  ): Promise<Learned> {
    const file = this.#learnedPath(address);
    return withLock(file, async () => {
      const learned = change(await this.learned(address));
      await writeTextAtomically(file, `${jsonText(seal(learned), { indent: 2 })}\n`);
      return learned;
    });
  }

  /**
   * States facts in a profile file of the user's, which is made when there is none. Throws a UsageError
   * when a fact is not understood; nothing is written then.
   *
   * @param base what a new file extends
   * @param facts by their names in the file, as in `update.method`
   */
  async setFacts(
    name: string,
    base: string,
    facts: Readonly<Record<string, string>>,
  ): Promise<void> {
    const file = this.#path(name);
    const { parse, parseDocument } = await import('yaml');
    const { parseProfile } = await import('../device/profile-file.ts');
    await withLock(file, async () => {
      const text = (await readText(file)) ?? `extends: ${base}\n`;
      const document = parseDocument(text, { schema: 'failsafe' });
      for (const [fact, value] of Object.entries(facts)) {
        // A list or a map is written as in YAML: [a, b], {action: add}; {item} is a path.
        const isNested = /^\[.*\]$|^\{[^{}]*:[^{}]*\}$/s.test(value);
        const node: unknown = isNested ? parse(value, { schema: 'failsafe' }) : value;
        document.setIn(fact.split('.'), document.createNode(node));
      }
      const edited = document.toString();
      try {
        parseProfile(edited, file, name);
      } catch (error) {
        if (!(error instanceof SettingsError)) throw error;
        throw new UsageError(error.message.replace(/^.*?:\d+:\d+: /, ''), { cause: error });
      }
      await writeTextAtomically(file, edited);
    });
    this.#profiles.delete(name);
  }

  #path(name: string): string {
    return join(this.folder, `${name}.yaml`);
  }

  async #read(name: string): Promise<Profile> {
    const own = builtIn(name);
    if (own !== undefined) return own;
    if (!/^[\w.-]+$/.test(name)) throw new SettingsError(`"${name}" is no name of a profile`);
    const file = this.#path(name);
    const text = await readText(file);
    if (text === undefined) {
      throw new SettingsError(
        `there is no profile "${name}": neither built in (documented, drf, generic-rest, form-action) nor ${file}`,
      );
    }
    const { parseProfile } = await import('../device/profile-file.ts');
    return parseProfile(text, file, name);
  }

  #learnedPath(address: string): string {
    return join(this.#learnedFolder, `${address.replace(/[^\w.-]/g, '_')}.json`);
  }
}
