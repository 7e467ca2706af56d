// The manual as roff for man(1), from the specs of the commands.
import './import-markdown.js';

export async function manual(version) {
  const { manPage } = await import('./man-page.ts');
  return manPage(version, today());
}

/** The day of the build; SOURCE_DATE_EPOCH overrides it (reproducible-builds.org). */
function today() {
  const seconds = Number(process.env.SOURCE_DATE_EPOCH);
  const date = Number.isInteger(seconds) && seconds > 0 ? new Date(seconds * 1000) : new Date();
  return date.toISOString().slice(0, 10);
}
