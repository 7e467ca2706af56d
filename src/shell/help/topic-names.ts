/** The topics of `help NAME`, in the order of `help`; the texts are in `topics/`. */
export const HELP_TOPICS = {
  selectors: 'how to select devices: --on, connect, use',
  filters: 'how to select records: user list FILTER, --filter, --where',
  scripts: 'devsh in scripts: streams, confirmation, "-" and "--"',
  json: 'the output of --json, --format yaml and --format jsonl, and its schema',
  'exit-codes': 'what the exit status of a command means',
  allow: 'what devsh refuses, and how --allow overrides it',
  environment: 'the variables that devsh reads, and where its files are',
  logins: 'where logins come from: keychain, 1Password (op), pass, own programs',
  trust: 'how devsh checks that it talks to the right device',
  profiles: 'how devsh knows how a device speaks, and how to change that',
  keys: 'the keys of the full screen',
} as const;

export type TopicName = keyof typeof HELP_TOPICS;
