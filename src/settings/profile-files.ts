import { join } from 'node:path';
import { jsonText } from '../device/json-text.ts';
import { learnedSchema, type Learned } from '../device/learned.ts';
import type { Profile } from '../device/profile.ts';
import { builtIn, parseProfile } from '../device/profile-file.ts';
import { SettingsError } from '../errors.ts';
import { readText, writeTextAtomically } from './files.ts';

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

  /** What was learned of a device; undefined when nothing was, or it cannot be read (it is a cache). */
  async learned(address: string): Promise<Learned | undefined> {
    try {
      const text = await readText(this.#learnedPath(address));
      if (text === undefined) return undefined;
      const result = learnedSchema.safeParse(JSON.parse(text));
      return result.success ? result.data : undefined;
    } catch (error) {
      if (error instanceof SettingsError || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  async keepLearned(address: string, learned: Learned): Promise<void> {
    const text = jsonText(learned, { indent: 2 });
    await writeTextAtomically(this.#learnedPath(address), `${text}\n`);
  }

  async #read(name: string): Promise<Profile> {
    const own = builtIn(name);
    if (own !== undefined) return own;
    if (!/^[\w.-]+$/.test(name)) throw new SettingsError(`"${name}" is no name of a profile`);
    const file = join(this.folder, `${name}.yaml`);
    const text = await readText(file);
    if (text === undefined) {
      throw new SettingsError(
        `there is no profile "${name}": neither built in (documented, drf, generic-rest, form-action) nor ${file}`,
      );
    }
    return parseProfile(text, file, name);
  }

  #learnedPath(address: string): string {
    return join(this.#learnedFolder, `${address.replace(/[^\w.-]/g, '_')}.json`);
  }
}
