import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { learnedSchema } from '../device/learned.ts';
import { parseProfile } from '../device/profile-file.ts';
import { SettingsError } from '../errors.ts';

/**
 * Whether something was learned of a resource of this name on any device. At once, because a line is
 * understood before anything is asked; only files with the name in them are read closely.
 */
export function isLearned(name: string, learnedFolder: string): boolean {
  const quoted = JSON.stringify(name);
  return textsIn(learnedFolder, '.json').some(([, text]) => {
    if (!text.includes(quoted)) return false;
    const result = learnedSchema.safeParse(jsonIn(text));
    if (!result.success) return false;
    const { resources = [], byResource, listings = {} } = result.data;
    return (
      resources.includes(name) || Object.hasOwn(byResource, name) || Object.hasOwn(listings, name)
    );
  });
}

/** Whether a profile of the user's has facts of a resource of this name. */
export function isInProfiles(name: string, folder: string): boolean {
  return textsIn(folder, '.yaml').some(([file, text]) => {
    if (!text.includes(name)) return false;
    try {
      return Object.hasOwn(parseProfile(text, file, 'any').resources, name);
    } catch (error) {
      // The command that needs the profile says what is wrong with it.
      if (error instanceof SettingsError) return false;
      throw error;
    }
  });
}

function textsIn(folder: string, ending: string): (readonly [file: string, text: string])[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(ending));
    return names.map((name) => [join(folder, name), readFileSync(join(folder, name), 'utf8')]);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
