/**
 * The environment for a program that devsh starts: without devsh's own variables, which may hold
 * secrets, and without NODE_OPTIONS, which would change how one in Node runs.
 */
export function childEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(DEVSH_|NODE_OPTIONS$)/i.test(name)),
  );
}
