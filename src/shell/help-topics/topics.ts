import { environment } from './environment.ts';
import { exitCodes } from './exit-codes.ts';
import { filters } from './filters.ts';
import type { HelpTopic } from './help-topic.ts';
import { keys } from './keys.ts';
import { profiles } from './profiles.ts';
import { scripts } from './scripts.ts';
import { selectors } from './selectors.ts';
import { trust } from './trust.ts';

/** What `help TOPIC` explains, in the order of `help`. */
export const HELP_TOPICS: readonly HelpTopic[] = [
  selectors,
  filters,
  scripts,
  exitCodes,
  environment,
  trust,
  profiles,
  keys,
];
