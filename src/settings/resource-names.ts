import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Whether something was learned of a resource of this name on any device. At once, because a line is
 * understood before anything is asked, and without the schema: the command reads the facts closely.
 */
export function isLearned(name: string, learnedFolder: string): boolean {
  const quoted = JSON.stringify(name);
  return texts(learnedFolder, '.json').some((text) => {
    if (!text.includes(quoted)) return false;
    const { resources, byResource, listings } = partsOf(jsonIn(text));
    const isListed = Array.isArray(resources) && resources.includes(name);
    return isListed || name in partsOf(byResource) || name in partsOf(listings);
  });
}

/** Whether a profile of the user's has facts of a resource of this name. */
export function isInProfiles(name: string, folder: string): boolean {
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

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
