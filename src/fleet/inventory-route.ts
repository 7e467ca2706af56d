import { parseRoute, type ConfiguredRoute } from '../device/route/choose-route.ts';
import { UsageError } from '../errors.ts';
import type { Path, YamlSource } from '../yaml-source.ts';

/** How the inventory spells a way: one of the two keys, or none. */
export interface WrittenRoute {
  readonly proxy?: string | undefined;
  readonly jump?: string | undefined;
}

/** The way that a device or a group asks for. Throws SettingsError with its place in the file. */
export function routeAt(
  { proxy, jump }: WrittenRoute,
  path: Path,
  source: YamlSource,
): ConfiguredRoute | undefined {
  if (proxy !== undefined && jump !== undefined) {
    throw source.error(
      [...path, 'jump'],
      'a device is reached by a proxy or a jump host, not both',
    );
  }
  const key = proxy === undefined ? 'jump' : 'proxy';
  const text = proxy ?? jump;
  if (text === undefined) return undefined;
  try {
    return parseRoute(key, text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw source.error([...path, key], `${key}: ${error.message}`);
  }
}

/** The same as it is written. */
export function writtenRoute(route: ConfiguredRoute): { proxy: string } | { jump: string } {
  switch (route.kind) {
    case 'direct':
      return { proxy: 'none' };
    case 'proxy':
      return { proxy: route.proxy };
    case 'jump':
      return { jump: route.jump };
  }
}
