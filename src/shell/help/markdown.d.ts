/** Texts come into the bundle, and into the tests, as they are. */
declare module '*.md' {
  const text: string;
  export default text;
}
