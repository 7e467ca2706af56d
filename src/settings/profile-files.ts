import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readdirSync, readFileSync } from 'node:fs';
import { builtIn } from '../device/built-in-profiles.ts';
import { jsonText } from '../device/value-text.ts';
import type { Learned } from '../device/learned-schema.ts';
import type { Profile } from '../device/profile.ts';
import { SettingsError, UsageError } from '../errors.ts';
import { readText, writeTextAtomically } from '../os/files.ts';
import { withLock } from '../os/lock.ts';
import { isSealed, jsonIn, readCached, seal } from './cache.ts';

/** So long what another devsh has learned meanwhile may stay unknown. */
const PRESENT_MS = 500;

/** Profiles that the user wrote, and what was learned of each device. */
export class ProfileFiles {
  readonly folder: string;
  readonly #learnedFolder: string;
  readonly #profiles = new Map<string, Promise<Profile>>();
  /** The files of learned facts: most devices have none, and a fleet asks a thousand times. */
  #present: { readonly at: number; readonly names: Promise<Set<string>> } | undefined;

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
    const file = this.#learnedPath(address);
    return (await this.#presentNames()).has(basename(file)) ? this.#readLearned(file) : undefined;
  }

  async #readLearned(file: string): Promise<Learned | undefined> {
    const data = await readCached(file);
    if (data === undefined || isSealed(data)) return data as Learned | undefined;
    const { learnedSchema } = await import('../device/learned-schema.ts');
    const result = learnedSchema.safeParse(data);
    return result.success ? result.data : undefined;
  }

  /** Keeps what `change` makes of what was learned of a device before; resolves to that. */
  async updateLearned(
    address: string,
    change: (held: Learned | undefined) => Learned,
  ): Promise<Learned> {
    const file = this.#learnedPath(address);
    return withLock(file, async () => {
      const learned = change(await this.#readLearned(file));
      await writeTextAtomically(file, `${jsonText(seal(learned), { indent: 2 })}\n`);
      this.#present = undefined;
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
    const { parseProfile, withFacts } = await import('../device/profile-file.ts');
    await withLock(file, async () => {
      const text = (await readText(file)) ?? `extends: ${base}\n`;
      const edited = withFacts(text, facts);
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

  #presentNames(): Promise<Set<string>> {
    const now = performance.now();
    if (this.#present === undefined || now - this.#present.at > PRESENT_MS) {
      const names = readdir(this.#learnedFolder).then(
        (all) => new Set(all),
        () => new Set<string>(), // nothing was learned so far
      );
      this.#present = { at: now, names };
    }
    return this.#present.names;
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

/**
 * Whether something was learned of a resource of this name on any device. At once, because a line is
 * understood before anything is asked, and without the schema: the command reads the facts closely.
 */
function isLearned(name: string, learnedFolder: string): boolean {
  const quoted = JSON.stringify(name);
  return texts(learnedFolder, '.json').some((text) => {
    if (!text.includes(quoted)) return false;
    const { resources, byResource, listings } = partsOf(jsonIn(text));
    const isListed = Array.isArray(resources) && resources.includes(name);
    return isListed || name in partsOf(byResource) || name in partsOf(listings);
  });
}

/** Whether a profile of the user's has facts of a resource of this name. */
function isInProfiles(name: string, folder: string): boolean {
  // A key below `resources`, in a block of its own or in braces.
  const isKey = new RegExp(`^\\s+["']?${name}["']?:|[{,]\\s*["']?${name}["']?:`, 'm');
  return texts(folder, '.yaml').some((text) => {
    const [, resources = ''] = /^["']?resources["']?:(.*(?:\n(?![^\s#]).*)*)/m.exec(text) ?? [];
    return isKey.test(resources);
  });
}

function texts(folder: string, ending: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(ending));
    return names.map((name) => readFileSync(join(folder, name), 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}

/** The own properties of an object; none of anything else. */
function partsOf(data: unknown): Readonly<Record<string, unknown>> {
  const own = typeof data === 'object' && data !== null ? Object.entries(data) : [];
  return Object.assign(Object.create(null) as Record<string, unknown>, Object.fromEntries(own));
}
