declare const DEVSH_VERSION: string | undefined;

/** The version in package.json, put in by the build. */
export const VERSION: string = typeof DEVSH_VERSION === 'string' ? DEVSH_VERSION : '0.0.0-dev';

declare const DEVSH_BUGS: string | undefined;

/** Where bugs are reported: the address that the release puts into package.json. */
export const BUGS: string =
  typeof DEVSH_BUGS === 'string' ? DEVSH_BUGS : 'the place where you got devsh from';
