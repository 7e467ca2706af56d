import type { TopicBody } from './help-topic.ts';

/** What `help NAME` explains besides commands. */
export interface HelpTopic {
  readonly name: string;
  /** One line for the list of topics. */
  readonly summary: string;
  /** Loaded when it is asked for. */
  readonly read: () => Promise<TopicBody>;
}

/** In the order of `help`. */
export const HELP_TOPICS: readonly HelpTopic[] = [
  {
    name: 'selectors',
    summary: 'how devices are named: --on, connect, use',
    read: async () => (await import('./selectors.ts')).selectors,
  },
  {
    name: 'filters',
    summary: 'how records are chosen: user list FILTER, --filter, --where',
    read: async () => (await import('./filters.ts')).filters,
  },
  {
    name: 'scripts',
    summary: 'devsh in scripts: streams, confirmation, "-" and "--"',
    read: async () => (await import('./scripts.ts')).scripts,
  },
  {
    name: 'json',
    summary: 'what --json, --format yaml and --format jsonl print, and its schema',
    read: async () => (await import('./json.ts')).json,
  },
  {
    name: 'exit-codes',
    summary: 'what the exit status of a command means',
    read: async () => (await import('./exit-codes.ts')).exitCodes,
  },
  {
    name: 'allow',
    summary: 'what is refused, and how --allow does it all the same',
    read: async () => (await import('./allow.ts')).allow,
  },
  {
    name: 'environment',
    summary: 'the variables that devsh heeds, and where its files are',
    read: async () => (await import('./environment.ts')).environment,
  },
  {
    name: 'trust',
    summary: 'how devsh knows that it speaks to the right device',
    read: async () => (await import('./trust.ts')).trust,
  },
  {
    name: 'profiles',
    summary: 'how devsh knows the way a device speaks, and how to tell it',
    read: async () => (await import('./profiles.ts')).profiles,
  },
  {
    name: 'keys',
    summary: 'what the keys of the full screen do, and the names of their actions',
    read: async () => (await import('./keys.ts')).keys,
  },
];
