/**
 * The environment for a program that devsh starts: without devsh's own variables, which may hold
 * secrets, without the login of a proxy, and without NODE_OPTIONS, which would change how one in Node
 * runs.
 */
export function childEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env)
      .filter(([name]) => !/^(DEVSH_|NODE_OPTIONS$)/i.test(name))
      .map(([name, value]) => [name, /_proxy$/i.test(name) ? withoutLogin(value) : value]),
  );
}

/** `http://me:secret@proxy:3128` without what stands before the last `@`. */
function withoutLogin(url: string | undefined): string | undefined {
  return url?.replace(/^(\w+:\/\/)?.*@/s, '$1');
}
