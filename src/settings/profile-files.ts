import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readdirSync, readFileSync } from 'node:fs';
import { builtIn } from '../device/built-in-profiles.ts';
import { type JsonValue, jsonText } from '../device/record.ts';
import { type Facts, knownFacts, mergedFacts, type NewFact } from '../device/facts.ts';
import { partsOf } from '../device/json.ts';
import type { Profile } from '../device/profile.ts';
import { DevshError, SettingsError, UsageError } from '../errors.ts';
import { readText, writeNewText, writeTextAtomically } from '../os/files.ts';
import { withLock } from '../os/lock.ts';
import { isSealed, jsonIn, keepAside, readCached, seal } from './cache.ts';

/** When an observed fact became known, and the request or run that showed it; by its name. */
export type Since = Readonly<Partial<Record<string, { at: string; source: string }>>>;

/** Facts that another devsh stores may stay unknown for this time. */
const PRESENT_MS = 500;

/** Profiles that the user wrote, and observed facts of each device. */
export class ProfileFiles {
  readonly folder: string;
  readonly #seenFolder: string;
  readonly #profiles = new Map<string, Promise<Profile>>();
  /** The files of observed facts: most devices have none, and a fleet asks a thousand times. */
  #present: { readonly at: number; readonly names: Promise<Set<string>> } | undefined;

  /** `folder` has the user's `NAME.yaml`; `seenFolder`, in the cache, one file for each device. */
  constructor(folder: string, seenFolder: string) {
    this.folder = folder;
    this.#seenFolder = seenFolder;
  }

  /** A profile by name: built in, or a file of the user. Throws a SettingsError. */
  profile(name: string): Promise<Profile> {
    const known = this.#profiles.get(name);
    if (known !== undefined) return known;
    const profile = this.#read(name);
    this.#profiles.set(name, profile);
    return profile;
  }

  /** A profile, or one of this text, with more facts, under another name and for this process only. */
  async holdWith(
    name: string,
    facts: Readonly<Record<string, string>>,
    given?: string,
  ): Promise<string> {
    const { parseProfile, withFacts } = await import('../device/profile-file.ts');
    const own = given ?? (builtIn(name) ? `extends: ${name}\n` : await readText(this.#path(name)));
    const stated = Object.keys(facts);
    const trial = [name, ...stated].join(' ');
    const text = stated.length === 0 ? (own ?? '') : withFacts(own ?? '', facts);
    this.#profiles.set(trial, Promise.resolve(parseProfile(text, name, name)));
    return trial;
  }

  /**
   * A valid profile: built in, or of the user; with a text, that of the file, which becomes one of the user's.
   * Throws SettingsError for an invalid profile, UsageError if a built-in one has the name.
   *
   * @param mayReplace resolves if the text may replace another one of the user's; that is kept in `aside`
   */
  async take(
    given: string,
    text: string | undefined,
    mayReplace: (name: string) => Promise<void>,
  ): Promise<{ readonly name: string; readonly aside: string | undefined }> {
    let aside: string | undefined;
    const name = basename(given).replace(/\.ya?ml$/, '');
    this.#profiles.delete(name);
    if (text !== undefined) {
      const { parseProfile } = await import('../device/profile-file.ts');
      parseProfile(text, given, name);
      const file = this.#path(name);
      if (builtIn(name) !== undefined) {
        throw new UsageError(`there is another profile "${name}": it is built in; rename yours`);
      }
      const current = await readText(file);
      if (current !== undefined && current !== text) {
        await mayReplace(name);
        aside = await keepAside(file, new Date(), 'before');
      }
      if (current !== text) await writeTextAtomically(file, text);
    }
    await this.profile(name);
    return { name, aside };
  }

  /** Reads the profiles that call a field secret or public, before a line with its value is shown or stored. */
  async declareSecrets(): Promise<boolean> {
    const named = texts(this.folder, '.yaml').filter(({ text }) =>
      /\b(?:secret|public|write_only)\b/.test(text),
    );
    // An invalid file is reported when a device uses it.
    await Promise.allSettled(named.map(({ name }) => this.profile(basename(name, '.yaml'))));
    return named.length > 0;
  }

  /** Whether any device or profile is known to have a resource of this name. */
  knowsResource(name: string): boolean {
    return isInProfiles(name, this.folder) || isSeen(name, this.#seenFolder);
  }

  /** The observed facts of a device; empty if they cannot be read, as they are a cache. */
  async seen(address: string): Promise<Facts> {
    const file = this.#seenPath(address);
    return (await this.#presentNames()).has(basename(file)) ? seenIn(readCached(file)) : {};
  }

  /** Since when the observed facts of a device are known, as far as this version has stored it. */
  async since(address: string): Promise<Since> {
    const file = this.#seenPath(address);
    return (await this.#presentNames()).has(basename(file)) ? sinceIn(readCached(file)) : {};
  }

  /** Stores new facts of a device. Facts that cannot be stored are observed again the next time. */
  async keep(address: string, news: readonly NewFact[]): Promise<void> {
    const file = this.#seenPath(address);
    const more = news.reduce((all, { fact, value }) => mergedFacts(all, { [fact]: value }), {});
    const at = new Date().toISOString();
    const shown = news.map(({ fact, source = '' }) => [fact, { at, source }] as const);
    const textSince = (before: unknown): string => {
      const facts = mergedFacts(seenIn(before), more) as { readonly [fact: string]: JsonValue };
      const since = { ...sinceIn(before), ...Object.fromEntries(shown) };
      return `${jsonText(seal({ at, facts, since }), { indent: 2 })}\n`;
    };
    // Not synced: a power cut costs what can be observed again, and a sync for each device of a fleet minutes.
    const merge = (): Promise<void> =>
      withLock(file, async () => writeTextAtomically(file, textSince(readCached(file)), false));
    try {
      // If several devshes run, only one creates the file: that needs no lock.
      if ((await this.#presentNames()).has(basename(file))) await merge();
      else await writeNewText(file, textSince(undefined), false).catch(merge);
      (await this.#presentNames()).add(basename(file));
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
    }
  }

  /** Sets facts, by their names in the file, and creates the file if missing. Throws UsageError for an invalid one. */
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
      const names = readdir(this.#seenFolder).then(
        (all) => new Set(all),
        () => new Set<string>(), // nothing was seen so far
      );
      this.#present = { at: now, names };
    }
    return this.#present.names;
  }

  #path(name: string): string {
    if (!/^[\w.-]+$/.test(name)) throw new SettingsError(`"${name}" is not the name of a profile`);
    return join(this.folder, `${name}.yaml`);
  }

  async #read(name: string): Promise<Profile> {
    const own = builtIn(name);
    if (own !== undefined) return own;
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

  #seenPath(address: string): string {
    return join(this.#seenFolder, `${address.replace(/[^\w.-]/g, '_')}.json`);
  }
}

/** Synchronous and without the schema, as lines are parsed before any request; commands read the facts closely. */
function isSeen(name: string, seenFolder: string): boolean {
  return texts(seenFolder, '.json').some(({ text }) => {
    if (!text.includes(name)) return false;
    const { offers, ...facts } = partsOf(partsOf(jsonIn(text))['facts']);
    const isListed = Array.isArray(offers) && offers.includes(name);
    return isListed || Object.keys(facts).some((fact) => fact.startsWith(`resources.${name}.`));
  });
}

function isInProfiles(name: string, folder: string): boolean {
  // A key below `resources`, in a block of its own or in braces.
  const isKey = new RegExp(`^\\s+["']?${name}["']?:|[{,]\\s*["']?${name}["']?:`, 'm');
  return texts(folder, '.yaml').some(({ text }) => {
    const [, resources = ''] = /^["']?resources["']?:(.*(?:\n(?![^\s#]).*)*)/m.exec(text) ?? [];
    return isKey.test(resources);
  });
}

function texts(folder: string, ending: string): { name: string; text: string }[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(ending));
    return names.map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));
  } catch (error) {
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}

function sinceIn(data: unknown): Since {
  const { since } = partsOf(data);
  return isSealed(data) ? (partsOf(since) as Since) : {};
}

function seenIn(data: unknown): Facts {
  const { facts } = partsOf(data);
  // Unchanged content needs no check.
  return isSealed(data) ? partsOf(facts) : knownFacts(facts);
}
