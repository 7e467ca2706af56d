declare const DEVSH_VERSION: string | undefined;

/** The version in package.json, put in by the build. */
export const VERSION: string = typeof DEVSH_VERSION === 'string' ? DEVSH_VERSION : '0.0.0-dev';
