import { join } from 'node:path';
import { quoteWord } from '../../src/text/words.ts';
import { proxyUrl, type CanaryFleet } from './canary-fleet.ts';

export interface SessionLine {
  readonly line: string;
  /** Standard input of the one-shot; typed at the prompt. */
  readonly stdin?: string;
  /** Ctrl-C when this is shown, for lines that do not end. */
  readonly stopAt?: string;
}

/** A session of all commands, with secrets in each place where they can be typed. */
export function sessionLines({ devsh, inputs, proxy, secrets }: CanaryFleet): SessionLine[] {
  const { newUser, passphrase, login } = secrets;
  const input = (name: string): string => join(inputs, name);
  const written = (name: string): string => join(devsh.folder, name);
  const on = '--on @all-of-them --timeout 3';
  const withSecret = `'password=${newUser.replaceAll("'", '')}'`;
  const lines: (string | SessionLine)[] = [
    {
      line: `connect @all-of-them`,
      stdin: `user list --json\nuser add username=x ${withSecret} --yes\n`,
    },
    'devices',
    'use sim1',
    'disconnect sim2',
    'device list --json',
    'device add spare 10.9.9.9',
    'device remove spare',
    'device restore',
    `device import ${input('ansible.json')} --group all-of-them --yes`,
    `device import ${input('ansible.json')} --dry-run --json`,
    'device list --ansible',
    'device schema',
    ...['table', 'json', 'jsonl', 'csv', 'yaml'].map(
      (format) => `user list ${on} --format ${format}`,
    ),
    `user list ${withSecret} ${on} --trace ${written('trace.jsonl')}`,
    'user list --on sim1 --count-by note --json',
    'user list --on sim1 --count-by psk',
    `user show bob ${on} --json`,
    `user add username=zoe lang=de first_name=Zoe lastname=Z ${withSecret} ${on} --dry-run --json`,
    `user add username=zoe lang=de first_name=Zoe lastname=Z ${withSecret} ${on} --as-curl`,
    `user add username=zoe lang=de first_name=Zoe lastname=Z ${withSecret} ${on} --yes`,
    `user add username=zoe ${withSecret} ${on} --yes --nonsense`,
    `user set bob 'settings={"psk":"${newUser.replace(/["']/g, '')}"}' --on echo --yes`,
    `user set zoe lang=fr ${withSecret} ${on} --yes --json`,
    `user set bob ${withSecret} --on echo --yes --trace ${written('trace.jsonl')}`,
    `user delete bob --on echo --yes`,
    `user delete zoe ${on} --yes`,
    `user list --on sim1 --timeout 3 --proxy ${proxyUrl(proxy)}`,
    'user edit bob --on echo --yes',
    'resources --on sim1',
    'resource user list --on sim1',
    `plan ${input('change.yaml')} ${on} -o ${input('../plan-of-devsh')}`,
    `apply ${input('change.yaml')} ${on} --yes`,
    `apply ${input('users.csv')} ${on} --yes --json`,
    `plan ${input('change.yaml')} ${on} -o ${written('whole.plan')}`,
    `apply ${written('whole.plan')} --shard 1/2 --result ${written('1.json')} --timeout 3 --yes`,
    `apply ${written('whole.plan')} --shard 2/2 --result ${written('2.json')} --timeout 3 --yes`,
    `runs merge ${written('1.json')} ${written('2.json')} --plan ${written('whole.plan')} --json`,
    ...['csv', 'json', 'jsonl', 'yaml'].map(
      (format) => `export ${on} --format ${format} --output ${written(`users.${format}`)}`,
    ),
    `import ${input('users.csv')} ${on} --dry-run --json`,
    `import ${input('users.csv')} ${on} --yes`,
    'runs --json',
    'resume',
    'retry --yes',
    'run show --json',
    ...['markdown', 'json', 'junit', 'curl'].map((kind) => `report --as ${kind}`),
    'undo --yes',
    'get /api/user/ --on sim1 --json',
    `get /raw/ ${on} --json`,
    `post /raw/ uuid=null username=eve ${withSecret} ${on} --yes`,
    `post /raw/ uuid=null username=eve ${withSecret} ${on} --as-curl`,
    `delete /api/user/1/ ${on} --yes`,
    'open sim1 /api/user/',
    'profile show sim1',
    'profile set sim1 no_id=0',
    `profile check ${input('router.yaml')}`,
    'profile schema',
    'learn @all-of-them --timeout 3',
    { line: 'vault init --passphrase-stdin', stdin: `${passphrase}\n` },
    { line: 'vault list --passphrase-stdin', stdin: `${passphrase}\n` },
    { line: 'vault unlock --passphrase-stdin', stdin: `${passphrase}\n` },
    'vault lock',
    {
      line: 'login sim1 --user admin --to vault --password-stdin --passphrase-stdin',
      stdin: `${login}\n${passphrase}\n`,
    },
    'login --check @all-of-them --timeout 3',
    { line: 'user list --on sim1 --token-stdin --timeout 3', stdin: `${newUser}\n` },
    'credentials @all-of-them --json',
    { line: 'logout sim1 --passphrase-stdin', stdin: `${passphrase}\n` },
    'trust list --json',
    'trust scan @all-of-them',
    'trust accept sim1',
    'trust replace sim1',
    'questions list --on @all-of-them --json',
    'questions accept sim1',
    'questions decline sim1',
    'trust forget spare',
    'trust restore',
    { line: 'run -', stdin: `user list ${on}\nuser set bob ${withSecret} --on echo --yes\n` },
    { line: 'run -', stdin: `user add ${withSecret} 'open\n` },
    `run ${input('set.devsh')} ${withSecret} --on echo --yes`,
    { line: 'watch --interval 1 user list --on sim1', stopAt: 'viewer' },
    'history',
    'theme dark',
    'completion bash',
    { line: 'demo --users 5', stdin: '' },
    { line: 'simulator --port 0 --users 5', stopAt: 'Ctrl-C' },
    'simulator faults',
    'simulator quirks',
    'doctor @all-of-them --json --timeout 3',
    'info --json',
    'config list',
    "alias set look 'user list --on ${1}'",
    `alias set secret ${quoteWord(`user set bob ${withSecret}`)}`,
    'look sim1 --timeout 3',
    'alias list',
    'alias delete look',
    `config set pager ${withSecret}`,
    'config set reduceMotion true',
    'config get reduceMotion',
    'config unset reduceMotion',
    'config edit',
    'config schema',
    'version',
    'plan schema',
    'help user',
    'quit',
  ];
  return lines.map((line) => (typeof line === 'string' ? { line } : line));
}
