/*
 * What people try first, who come from ssh, curl, httpie, gh, kubectl, Ansible, Junos or a Unix shell, and the line that
 * does it here. Data alone: `tried-words.ts` reads it, and only for a line that failed or may be a search.
 */

/** The verb first, with its arguments if none are given; then the words that people try instead. */
export const VERBS: readonly {
  readonly verb: string;
  readonly needs: string;
  readonly synonyms: string;
}[] = [
  { verb: 'list', needs: '', synonyms: 'ls dir all get index' },
  { verb: 'list', needs: 'FILTER', synonyms: 'filter find search grep where query lookup' },
  { verb: 'show', needs: 'KEY', synonyms: 'display view cat describe details info inspect finger' },
  { verb: 'add', needs: 'FIELD=VALUE', synonyms: 'create new insert adduser useradd make' },
  { verb: 'set', needs: 'KEY FIELD=VALUE', synonyms: 'update modify change patch usermod put' },
  { verb: 'edit', needs: 'KEY', synonyms: 'vi vim nano emacs' },
  {
    verb: 'delete',
    needs: 'KEY',
    synonyms: 'remove rm del erase drop deluser userdel forget destroy purge no',
  },
  { verb: 'changes', needs: 'KEY', synonyms: 'history log audit events blame' },
  { verb: 'restore', needs: 'KEY --at TIME', synonyms: 'undelete recover' },
  { verb: 'list --drift', needs: '', synonyms: 'compare diff drift' },
];

/**
 * Typed words, and the line for them. A word in capitals stands for any one word, `…` for the rest; `a|b` for one
 * of two. The first row that fits counts; these come before the verbs.
 */
export const LINES: readonly (readonly [typed: string, line: string])[] = [
  // ssh, and other ways in
  ['ssh|telnet|open -l USER HOST', 'connect HOST --user USER'],
  ['ssh|telnet|target|host …', 'connect …'],
  ['open HOST /PATH', 'get PATH --on HOST'],
  ['open /PATH', 'get PATH'],
  ['open', 'get /api/'],
  ['open …', 'connect …'],
  ['https://HOST', 'connect HOST'],
  ['https://HOST/PATH', 'get /PATH --on HOST'],
  ['@GROUP …', 'connect @GROUP …'],
  ['cd|select|switch|use-context|context …', 'use …'],
  ['ssh-keygen …', 'trust forget DEVICE'],

  // curl, httpie, gh api
  ['curl|http|https|wget|api GET|get https://HOST/PATH …', 'get /PATH --on HOST …'],
  ['curl|http|https|wget|api https://HOST/PATH …', 'get /PATH --on HOST …'],
  ['get https://HOST/PATH …', 'get /PATH --on HOST …'],
  ['curl|http|https|wget|api GET|get /PATH …', 'get PATH …'],
  ['curl|http|https|wget|api POST|post /PATH …', 'post PATH …'],
  ['curl|http|https|wget|api DELETE|delete /PATH …', 'delete PATH …'],
  ['curl|http|https|wget|api /PATH …', 'get PATH …'],
  ['GET …', 'get …'],
  ['POST …', 'post …'],
  ['DELETE …', 'delete …'],

  // Users
  ['users VERB …', 'user VERB …'],
  ['users', 'user list'],
  ['show users', 'user list'],
  ['get user KEY', 'user show KEY'],
  ['passwd|password|chpasswd KEY …', 'rotate password KEY …'],
  ['passwd|password|chpasswd', 'rotate password USER'],
  ['reset password KEY …', 'rotate password KEY …'],
  ['change password KEY …', 'rotate password KEY …'],
  ['user passwd|password|reset-password KEY …', 'rotate password KEY …'],
  ['user token KEY …', 'rotate token KEY …'],
  ['rotate KEY', 'rotate password KEY'],
  ['lock|disable|block|suspend|ban|kick user KEY …', 'lockout KEY …'],
  ['lock|disable|block|suspend|ban|kick …', 'lockout …'],
  ['user lock|disable|block|suspend|ban …', 'lockout …'],
  ['restore|undelete|recover user KEY …', 'user restore KEY … --at TIME'],
  ['restore|undelete|recover KEY …', 'user restore KEY … --at TIME'],
  ['restore|recover', 'user restore --at TIME'],
  ['user restore KEY', 'user restore KEY --at TIME'],
  ['user top|tail|follow …', 'user list … --watch'],
  ['user watch …', 'user list … --watch'],
  ['watch devices', 'devices --watch'],
  ['watch RESOURCE list …', 'RESOURCE list … --watch'],
  ['watch get …', 'user list --watch'],
  ['watch|top|tail', 'user list --watch'],
  ['watch user|users …', 'user list … --watch'],

  // Past
  ['last|log|logs', 'runs'],
  ['last run', 'runs show last'],
  ['audit|events', 'changes'],
  ['show log|history|audit', 'changes'],
  ['jobs|journal …', 'runs …'],
  ['undo last', 'undo'],
  ['rollback|revert …', 'undo …'],
  ['show | compare', 'user list --drift'],
  ['drift|diff|compare DEVICE OTHER', 'user list --drift --on DEVICE,OTHER'],
  ['runs list|ls', 'runs'],
  ['run show …', 'runs show …'],
  ['run list', 'runs'],
  ['run merge …', 'runs merge …'],
  ['history list', 'history'],

  // Files
  ['RESOURCE export FILE.csv|FILE.json|FILE.yaml|FILE.jsonl', 'export RESOURCE --output FILE'],
  ['RESOURCE export …', 'export RESOURCE …'],
  ['RESOURCE import FILE', 'import FILE RESOURCE'],
  ['RESOURCE import', 'import FILE RESOURCE'],
  ['RESOURCE FILE.csv|FILE.json|FILE.yaml|FILE.jsonl', 'import FILE RESOURCE'],
  ['import user|users FILE', 'import FILE user'],
  ['export users …', 'export user …'],
  ['export FILE.csv|FILE.json|FILE.yaml|FILE.jsonl', 'export --output FILE'],
  ['dump|backup|download FILE.csv|FILE.json|FILE.yaml|FILE.jsonl', 'export --output FILE'],
  ['dump|backup|download', 'export'],
  ['load|upload|source FILE.csv|FILE.json|FILE.jsonl', 'import FILE'],
  ['FILE.csv|FILE.json|FILE.jsonl', 'import FILE'],
  ['FILE.devsh', 'run FILE'],
  ['FILE.yaml|FILE.yml|FILE.plan', 'plan FILE'],
  ['commit check …', 'plan FILE'],
  ['commit|deploy|push FILE …', 'apply FILE …'],
  ['commit|deploy|push', 'apply FILE'],
  ['playbook|script|exec|source …', 'run …'],

  // Devices
  ['inventory|hosts import FILE …', 'device import FILE …'],
  ['import inventory|hosts|devices FILE …', 'device import FILE …'],
  ['inventory|hosts list|ls|show', 'device list'],
  ['inventory|hosts', 'device list'],
  ['devices list|ls', 'device list'],
  ['device show|get|info|describe DEVICE', 'devices --on DEVICE'],
  ['ping|status …', 'doctor …'],
  ['check|test|healthcheck', 'doctor'],

  // Certificates and logins
  ['pins|certs|certificates|fingerprints', 'trust list'],
  ['trust show|ls', 'trust list'],
  ['trust add|pin DEVICE …', 'trust accept DEVICE …'],
  ['auth login …', 'login …'],
  ['auth logout …', 'logout …'],
  ['auth status|list|token', 'credentials'],
  ['auth', 'credentials'],
  ['whoami|who', 'credentials'],
  ['who am i', 'credentials'],

  // Settings and the rest
  ['settings|preferences|prefs', 'config list'],
  ['settings|configure set NAME VALUE', 'config set NAME VALUE'],
  ['config show|view|ls', 'config list'],
  ['configure', 'config list'],
  ['theme auto', 'config unset theme'],
  ['theme NAME', 'config set theme NAME'],
  ['theme', 'config get theme'],
  ['profiles', 'help profiles'],
  ['profile list|ls', 'help profiles'],
  ['profile get|describe|view …', 'profile show …'],
  ['alias add|create …', 'alias set …'],
  ['unalias …', 'alias delete …'],
  ['device schema', 'schema devices'],
  ['plan schema', 'schema changes'],
  ['profile schema', 'schema profile'],
  ['config schema', 'schema settings'],
  ['man|? …', 'help …'],
  ['h|commands|usage', 'help'],
  ['RESOURCE ?', 'help RESOURCE'],
  ['q|:q|:wq|bye|:quit', 'quit'],
  ['owed settle …', 'resume …'],
  ['owed …', 'pending …'],
  ['retry …', 'resume …'],
  ['sudo|devsh …', '…'],
];

const PIPE_TO_JQ = 'print JSON and pipe it: devsh … --json | jq …';

const NO_SECRET =
  'no option takes a secret: "login" keeps it, --password-stdin and --token-stdin read it';

const DEVICES = '--on SELECTOR names the devices';

/** An option as typed, what stands here in its place ("": nothing that fits every line), and why. */
export const TRIED_OPTIONS: readonly (readonly [tried: string, instead: string, why: string])[] = [
  // curl and httpie
  ['-k', '--insecure', '--insecure checks no certificate; "trust accept" pins the one of a device'],
  ['--verify VALUE', '--insecure', '--insecure checks no certificate; "trust accept" pins it'],
  ['--no-verify', '--insecure', '--insecure checks no certificate; "trust accept" pins it'],
  ['--insecure-skip-tls-verify', '--insecure', '--insecure checks no certificate'],
  ['--cacert VALUE', '--ca VALUE', '--ca FILE trusts what a CA has signed'],
  ['-H VALUE', '', 'devsh sends the login itself: "login" keeps it, --token-stdin reads it'],
  ['--header VALUE', '', 'devsh sends the login itself: "login" keeps it, --token-stdin reads it'],
  ['-X VALUE', '', 'the method comes first: get PATH, post PATH field=value, delete PATH'],
  ['--request VALUE', '', 'the method comes first: get PATH, post PATH field=value, delete PATH'],
  ['-d VALUE', '', 'fields follow the path: post PATH field=value'],
  ['--data VALUE', '', 'fields follow the path: post PATH field=value'],
  ['-s', '--quiet', '-q prints only data and errors'],
  ['-x VALUE', '--proxy VALUE', '--proxy URL is the proxy'],
  ['-m VALUE', '--timeout VALUE', '--timeout SECONDS is the time limit'],
  // ssh
  [
    '-u VALUE',
    '--user VALUE',
    '--user NAME is the account; a secret comes from elsewhere ("help login")',
  ],
  ['-l VALUE', '--filter VALUE', '--filter FILTER chooses records; --user NAME is the account'],
  ['-i VALUE', '', `${DEVICES}, of devsh's own inventory ("device import FILE" fills it)`],
  ['--inventory VALUE', '', `${DEVICES}, of devsh's own inventory ("device import FILE" fills it)`],
  ['-J VALUE', '--jump VALUE', '--jump HOST is the jump host'],
  ['-p VALUE', '', `${NO_SECRET}; a port stands behind the address: 10.0.0.5:8443`],
  ['--password VALUE', '', NO_SECRET],
  ['--token VALUE', '--token-stdin', NO_SECRET],
  // kubectl, gh, Ansible
  [
    '-o FORMAT',
    '--format FORMAT',
    '-o names a file, not a format: --format FORMAT chooses the format',
  ],
  [
    '-o KUBECTL',
    '',
    `-o names a file, not a format: --columns FIELDS chooses columns; for other texts, ${PIPE_TO_JQ}`,
  ],
  ['-o VALUE', '', '"export --output FILE" writes records to a file; others print: > FILE'],
  ['-n VALUE', '', `${DEVICES} (@GROUP for a group); --dry-run sends nothing`],
  ['--namespace VALUE', '--on VALUE', `${DEVICES}, @GROUP those of a group`],
  ['--host VALUE', '--on VALUE', DEVICES],
  ['--hosts VALUE', '--on VALUE', DEVICES],
  ['--device VALUE', '--on VALUE', DEVICES],
  ['--target VALUE', '--on VALUE', DEVICES],
  ['-t VALUE', '--on VALUE', DEVICES],
  ['--limit VALUE', '', `a filter chooses records, and "| head" cuts; ${DEVICES}`],
  ['--selector VALUE', '--filter VALUE', '--filter FILTER chooses records'],
  ['--jq VALUE', '', PIPE_TO_JQ],
  ['--jsonpath VALUE', '', PIPE_TO_JQ],
  ['--template VALUE', '', PIPE_TO_JQ],
  ['--fields VALUE', '--columns VALUE', '--columns FIELDS chooses fields'],
  ['--sort-by VALUE', '--sort VALUE', '--sort FIELDS sorts'],
  ['--where VALUE', '--filter VALUE', '--filter FILTER chooses what to show'],
  ['--filter VALUE', '--where VALUE', '--where FILTER chooses what to write'],
  ['-f VALUE', 'VALUE', 'a file needs no option: apply FILE'],
  ['--file VALUE', 'VALUE', 'a file needs no option: apply FILE'],
  ['-w', '--watch', '--watch reads again and again'],
  ['--follow', '--watch', '--watch reads again and again'],
  ['--interval VALUE', '--watch=VALUE', '--watch=SECONDS reads again and again'],
  ['--check', '--dry-run', '--dry-run shows what would be sent'],
  ['--diff', '--dry-run', '--dry-run shows what would be sent'],
  ['-C', '--dry-run', '--dry-run shows what would be sent'],
  ['--forks VALUE', '--concurrency VALUE', '--concurrency N is how many devices at a time'],
  ['--become', '', '--user NAME is the account'],
  ['--username VALUE', '', '--user NAME is the account; a field is username=NAME'],
  ['--all', '', '--where FILTER chooses what to write, and "use all" selects all devices'],
  ['--force', '', '--allow WORD overrides a refusal ("help allow")'],
  ['--no-header', '--no-headers', '--no-headers leaves out the header'],
  // devsh itself, earlier or elsewhere
  ['--config VALUE', '', '"config list" shows the settings'],
  ['--as VALUE', '', 'a report is Markdown, and --json is the same as data'],
  ['--as-curl', '', 'plan FILE --as-curl prints the requests of a change set as curl calls'],
  [
    '--evidence VALUE',
    '',
    'export RESOURCE --output-dir DIR keeps the records of each device; report --since tells an incident',
  ],
  ['--report VALUE', '', 'doctor --json has all findings, without secrets, for a bug report'],
  ['--per-device', '', '--output-dir DIR writes one file for each device'],
  [
    '--new-command VALUE',
    '',
    '--new-stdin reads what a program prints: PROGRAM | devsh rotate password USER --new-stdin',
  ],
];
