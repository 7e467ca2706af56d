import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt, UsageError } from '../../src/errors.ts';
import { COMMANDS } from '../../src/shell/commands/index.ts';
import { commandNamed, namedVerbs, verbNamed } from '../../src/shell/command.ts';
import { bind } from '../../src/shell/grammar/bind.ts';
import { suggest } from '../../src/text/suggest.ts';
import { parseCompleteLine, quoteLine } from '../../src/text/words.ts';
import { makeDevsh, type Run, startFleet } from './devsh.ts';

/**
 * What a new user tries first, by task, and what devsh must suggest: the line that does it, ready to run; or behind
 * `~` the words of a hint where no one line fits. A word in capitals is what the line still needs.
 */
const GUESSES = `
# connect
ssh 10.0.0.5  ->  connect 10.0.0.5
ssh admin@10.0.0.5  ->  connect admin@10.0.0.5
ssh -l admin 10.0.0.5  ->  connect 10.0.0.5 --user admin
telnet 10.0.0.5  ->  connect 10.0.0.5
open 10.0.0.5  ->  connect 10.0.0.5
https://10.0.0.5  ->  connect 10.0.0.5
@lab  ->  connect @lab
connect sim1 -u admin  ->  connect sim1 --user admin
connect sim1 -p secret  ->  ~no option takes a secret
# list
ls  ->  user list
list users  ->  user list
users  ->  user list
get users  ->  user list
show users  ->  user list
user ls  ->  user list
user get  ->  user list
user all  ->  user list
users list  ->  user list
ls users  ->  user list
user list -o json  ->  user list --format json
user list -o csv  ->  user list --format csv
user list -o yaml  ->  user list --format yaml
user list -oyaml  ->  user list --format yaml
user list --output json  ->  user list --format json
user list -o wide  ->  ~--columns FIELDS
user list --jq .devices  ->  ~--json | jq
user list --template x  ->  ~--json | jq
user list --fields username  ->  user list --columns username
user list --sort-by username  ->  user list --sort username
user list --limit 3  ->  ~head
# find
user list -l lang=de  ->  user list --filter lang=de
user list --selector lang=de  ->  user list --filter lang=de
user list --where lang=de  ->  user list --filter lang=de
user list lang==de  ->  user list lang=de
user list lang:de  ->  user list lang=de
user list lang=de,zz  ->  user list 'lang~^(de|zz)$'
user list lang=zz,lang=yy  ->  user list 'lang~^(zz|yy)$'
user list lang=zz or lang=yy  ->  user list 'lang~^(zz|yy)$'
user list lang=zz lang=yy  ->  user list 'lang~^(zz|yy)$'
user list 'lang=zz or lang=yy'  ->  user list 'lang~^(zz|yy)$'
user list 'lang=zz|yy' --sort username  ->  user list 'lang~^(zz|yy)$' --sort username
user list 'lang=zz||lang=yy'  ->  user list 'lang~^(zz|yy)$'
user list lang=zz or username=x  ->  ~lang~^(de|fr)$ is one value or the other
user list lang=zz and lastname=x  ->  ~conditions stand side by side
user list is_admin=true  ->  ~no record has a field "is_admin"; the fields are
user list lnag=de  ->  ~no record has a field "lnag"; did you mean lang?
user list --sort lnag  ->  ~no record has a field "lnag"; did you mean lang?
user list --count-by lnag  ->  ~no record has a field "lnag"; did you mean lang?
export user lnag=de  ->  ~no record has a field "lnag"; did you mean lang?
export lang=de  ->  export user lang=de
user list --no-header  ->  user list --no-headers
find bob  ->  user list bob
grep bob  ->  user list bob
user find bob  ->  user list bob
user search bob  ->  user list bob
user where lang=de  ->  user list lang=de
# one
describe user bob  ->  user show bob
cat bob  ->  user show bob
user describe bob  ->  user show bob
user view bob  ->  user show bob
show user bob  ->  user show bob
get user bob  ->  user show bob
user info bob  ->  user show bob
finger bob  ->  user show bob
user show viewr  ->  ~did you mean viewer
# add
adduser bob  ->  user add username=bob
useradd bob  ->  user add username=bob
create user bob  ->  user add username=bob
user create bob  ->  user add username=bob
user new bob  ->  user add username=bob
add user bob lang=de  ->  user add username=bob lang=de
user add bob  ->  ~username=bob
user add --username bob  ->  ~username=NAME
100user add username=bob  ->  user add username=bob
# change
set user bob lang=en  ->  user set bob lang=en
change bob lang=en  ->  user set bob lang=en
usermod bob lang=en  ->  user set bob lang=en
user update bob lang=en  ->  user set bob lang=en
user patch bob lang=en  ->  user set bob lang=en
user modify bob lang=en  ->  user set bob lang=en
vi bob  ->  user set bob
edit user bob  ->  user set bob
user edit bob  ->  user set bob
# delete
rm bob  ->  user delete bob
rm bob --on sim1  ->  user delete bob --on sim1
del bob  ->  user delete bob
userdel bob  ->  user delete bob
delete user bob  ->  user delete bob
remove user bob  ->  user delete bob
user rm bob  ->  user delete bob
user destroy bob  ->  user delete bob
no user bob  ->  user delete bob
user delete viewer --force --yes  ->  ~--allow
user delete --all  ->  ~--where FILTER
# passwords, locking
passwd bob  ->  rotate password bob
passwd  ->  rotate password USER
password bob  ->  rotate password bob
reset password bob  ->  rotate password bob
change password bob  ->  rotate password bob
user passwd bob  ->  rotate password bob
rotate bob  ->  rotate password bob
lock bob  ->  lockout bob
disable bob  ->  lockout bob
lock user bob  ->  lockout bob
user disable bob  ->  lockout bob
user disable bob --on sim1  ->  ~user has no verb "disable"
user missing bob  ->  user show bob
user stats  ->  user list --count-by FIELD
user set bob lang=fr --schedule 03:00  ->  ~devsh does not schedule
user set bob lang=fr --confirm-later 5  ->  ~fields need no option
user lock bob  ->  lockout bob
block bob  ->  lockout bob
# back
restore user bob  ->  user restore bob --at TIME
restore bob  ->  user restore bob --at TIME
undelete bob  ->  user restore bob --at TIME
user undelete bob  ->  user restore bob --at TIME
rollback  ->  undo
revert  ->  undo
undo last  ->  undo
undo --last  ->  ~no option --last
# differences, past
drift  ->  user list --drift
diff  ->  user list --drift
diff sim1 sim2  ->  user list --drift --on sim1,sim2
compare  ->  user list --drift
user diff  ->  user list --drift
show | compare  ->  user list --drift
last  ->  runs
log  ->  runs
journal  ->  runs
runs list  ->  runs
audit  ->  changes
changes viewr  ->  ~no user "viewr" was ever read on 1 device; did you mean viewer?
changes key=bobb  ->  ~no user "bobb" was ever read on 1 device
changes lnag=de  ->  ~no record has a field "lnag"; did you mean lang?
user changes viewr  ->  ~no user "viewr" was ever read on 1 device; did you mean viewer?
user list --at 2099-01-01  ->  ~2099-01-01 is in the future
user list lnag=de --at 0s  ->  ~no record has a field "lnag"; did you mean lang?
events  ->  changes
user log bob  ->  user changes bob
user history bob  ->  user changes bob
# files
user export  ->  export user
user export users.csv  ->  export user --output users.csv
user export lang=de  ->  export user lang=de
export users  ->  export user
export users.csv  ->  export --output users.csv
dump  ->  export
backup  ->  export
export user -o json  ->  export user --format json
user import users.csv  ->  import users.csv user
import user users.csv  ->  import users.csv user
load users.csv  ->  import users.csv
users.csv  ->  import users.csv
user users.csv  ->  import users.csv user
# change sets
apply -f x.yaml  ->  apply x.yaml
apply x.yaml --check  ->  apply x.yaml --dry-run
apply x.yaml --diff  ->  apply x.yaml --dry-run
commit  ->  apply FILE
commit check  ->  plan FILE
deploy x.yaml  ->  apply x.yaml
x.yaml  ->  plan x.yaml
playbook x.devsh  ->  run x.devsh
x.devsh  ->  run x.devsh
# settings, logins
settings  ->  config list
preferences  ->  config list
config show  ->  config list
configure  ->  config list
auth login  ->  login
auth login sim1  ->  login sim1
auth status  ->  credentials
auth logout  ->  logout
whoami  ->  credentials
login sim1 --password x  ->  ~no option takes a secret
login -u admin  ->  login --user admin
profiles  ->  help profiles
profile list  ->  help profiles
profile ls  ->  help profiles
# inventory, selection
inventory  ->  device list
inventory list  ->  device list
inventory import hosts.ini  ->  device import hosts.ini
hosts  ->  device list
devices list  ->  device list
device ls  ->  device list
add device fw1 10.0.0.9  ->  device add fw1 10.0.0.9
remove device fw1  ->  device remove fw1
device rm fw1  ->  device remove fw1
list devices  ->  device list
user list -i hosts.ini  ->  ~device import FILE
user list -n berlin  ->  ~--on SELECTOR
user list --host sim1  ->  user list --on sim1
user list --target sim1  ->  user list --on sim1
cd sim1  ->  use sim1
# raw API
curl /api/user/  ->  get /api/user/
curl -k https://10.0.0.5/api/user/  ->  get /api/user/ --on 10.0.0.5 --insecure
http GET /api/user/  ->  get /api/user/
api /api/user/  ->  get /api/user/
get https://10.0.0.5/api/user/  ->  get /api/user/ --on 10.0.0.5
GET /api/user/  ->  get /api/user/
post /api/user/ -d a=b  ->  ~fields follow the path
get /api/user/ -H X-Y:z  ->  ~devsh sends the login itself
get /api/user/ -X POST  ->  ~the method comes first
# trust
user list -k  ->  user list --insecure
user list --verify no  ->  user list --insecure
user list --cacert ca.pem  ->  user list --ca ca.pem
certs  ->  trust list
trust show  ->  trust list
# watch, rest
watch  ->  user list --watch
user watch  ->  user list --watch
user list -w  ->  user list --watch
user list --follow  ->  user list --watch
top  ->  user list --watch
man user  ->  help user
? user  ->  help user
user ?  ->  help user
q  ->  quit
# further tools, and what must not be taken for a search
users -o json  ->  user list --format json
ls -la  ->  user list
rm -rf bob  ->  user delete bob
tail -f  ->  user list --watch
user rename bob alice  ->  user set bob username=alice
user exists bob  ->  user show bob
user enable bob  ->  user set bob FIELD=VALUE
unlock bob  ->  user set bob FIELD=VALUE
user count  ->  user list --count-by FIELD
user reset bob  ->  rotate password bob
user list --csv  ->  user list --format csv
user list --group-by lang  ->  user list --count-by lang
user list --order lang  ->  user list --sort lang
user list --reverse  ->  ~--sort -FIELD
curl -X DELETE /api/user/1/  ->  delete /api/user/1/
curl -u admin:geheim https://10.0.0.5/api/user/  ->  get /api/user/ --on 10.0.0.5 --user admin
wget https://10.0.0.5/api/user/  ->  get /api/user/ --on 10.0.0.5
put /api/user/1/ lang=de  ->  user set KEY FIELD=VALUE
gh api /api/user/  ->  get /api/user/
kubectl get users  ->  user list
kubectl apply -f x.yaml  ->  apply x.yaml
terraform plan  ->  plan FILE
commit confirmed 5  ->  apply FILE --confirm 120
show version  ->  version
show configuration  ->  export
connect all  ->  connect @all
fw1.example.com  ->  connect fw1.example.com
10.0.0.0/24  ->  connect 10.0.0.0/24
10.0.0.5 user list lang=de  ->  user list lang=de --on 10.0.0.5
10.0.0.5 user  ->  user --on 10.0.0.5
fingerprint sim1  ->  trust scan sim1
credentials list  ->  credentials
runs last  ->  runs show last
:wq  ->  quit
ping sim1  ->  doctor sim1
sudo user list  ->  user list
# earlier words of devsh, and its own nouns
users delete bob  ->  user delete bob
list users where lang=de  ->  user list lang=de
filter  ->  user list FILTER
filter lang=de  ->  user list lang=de
show  ->  user show KEY
adduser  ->  user add username=NAME
add user bob password=hunter2  ->  user add username=bob password=***
user compare  ->  user list --drift
?  ->  help
run show last  ->  runs show last
run list  ->  runs
owed  ->  pending
owed settle  ->  resume
owed drop 1  ->  pending drop 1
retry 1  ->  resume 1
device schema  ->  schema devices
plan schema  ->  schema changes
profile schema  ->  schema profile
config schema  ->  schema settings
alias add de x  ->  alias set de x
alias de=x  ->  alias set de x
trust rm fw1  ->  trust forget fw1
config view  ->  config list
pins  ->  trust list
script a.devsh  ->  run a.devsh
open fw1 /api/user/  ->  get /api/user/ --on fw1
open  ->  get /api/
watch devices  ->  devices --watch
watch user list zoe  ->  user list zoe --watch
watch get /api/status/  ->  user list --watch
theme  ->  config get theme
theme light  ->  config set theme light
theme auto  ->  config unset theme
user delete --filter lang=de  ->  user delete --where lang=de
export --output json  ->  ~one of this name is ./json
plan change.yaml -o jsonpath={.items}  ->  ~--json | jq
user list --fields=username  ->  ~--columns FIELDS chooses fields
watch --interval 30 user list  ->  ~--watch=SECONDS reads again
user list -u admin  ->  ~--user NAME
user list --password x  ->  ~no option takes a secret
undo --alow x  ->  ~no option --alow
info --config  ->  ~"config list" shows the settings
user list --as-curl  ->  ~plan FILE --as-curl prints the requests
export --evidence folder  ->  ~export RESOURCE --output-dir DIR
simulator --profile drf  ->  ~a simulated one has the documented API
changes --coverage  ->  ~report --since TIME says what was read
export --per-device  ->  ~--output-dir DIR writes one file
get /api/user/ --first-page  ->  ~--raw prints the first response alone
doctor --report report.json  ->  ~doctor --json has all findings
rotate password bob --new-command gen  ->  ~--new-stdin reads what a program prints
user list --no-pager  ->  ~pipe what you want to page into less
# played again by somebody who knows only README and --help
connect --host 10.0.0.5  ->  connect 10.0.0.5
connect 10.0.0.5 -p 8443  ->  ~a port stands behind the address
user list --on sim1 --port 8443  ->  ~a port stands behind the address
user get bob  ->  user show bob
user get lang=de  ->  user list lang=de
users viewer  ->  user list viewer
user lst  ->  user list
user lst lang=de  ->  user list lang=de
user list where lang=zz  ->  user list lang=zz
user list --filter 'lang == "de"'  ->  ~a condition is written without blanks
user list yesterday  ->  ~--at TIME
user list --on sim1 sim9.example.com  ->  ~--on
user list --on sim1 spare  ->  user list --on sim1,spare
user list --on=sim1 lang=de spare  ->  user list --on=sim1,spare lang=de
user list sim1 spare  ->  user list --on sim1,spare
export user spare  ->  export user --on spare
user count lang  ->  user list --count-by lang
user count --by lang  ->  user list --count-by lang
user add bob --lang de  ->  ~fields need no option: username=bob lang=de
user set bob --lang en  ->  user set bob lang=en
user update bob --field lang=en  ->  user set bob lang=en
user list --on all  ->  ~did you mean '@all'
user list --all  ->  user list --on @all
user list -d sim1  ->  user list --on sim1
user list --on @lab --group lab  ->  ~--on @GROUP
user undo  ->  undo
undo user bob  ->  user restore bob --at TIME
who changed bob  ->  user changes bob
--at yesterday  ->  user list --at yesterday
user list --at yesterday  ->  ~yesterday 00:00
user list --since 2d  ->  changes --since 2d
changes yesterday  ->  changes --since 1d
changes today  ->  changes --since 00:00
export csv  ->  export user --format csv
user diff sim1 sim2  ->  user list --drift --on sim1,sim2
user list --diff  ->  user list --drift
offboard bob  ->  lockout bob
user set-password bob  ->  rotate password bob
show pending  ->  pending
runs pending  ->  pending
todo  ->  pending
plan user add username=bob  ->  user add username=bob --dry-run
-c 'user list'  ->  ~the line itself follows
-e 'user list'  ->  ~the line itself follows
login --save  ->  login
credentials add sim1  ->  login sim1
credentials set sim1  ->  login sim1
save login  ->  login
login --token abc  ->  ~--token takes no value
login token sim1  ->  login sim1 --token
login sim1 --auth token  ->  ~login --token asks for a token
trust sim1  ->  trust accept sim1
user add bob --secret x  ->  ~no option --secret
trust cert sim1  ->  trust scan sim1
trust accept sim1 --yes  ->  ~--fingerprint
devices add fw1 10.0.0.9  ->  device add fw1 10.0.0.9
inventory add fw1 10.0.0.9  ->  device add fw1 10.0.0.9
add device 10.0.0.9 fw1  ->  device add fw1 10.0.0.9
alias de 'user list lang=de'  ->  alias set de 'user list lang=de'
config timeoutMs 5000  ->  config set timeoutMs 5000
config edit  ->  config set NAME VALUE
config rm on  ->  config unset on
help exit codes  ->  help exit-codes
why  ->  help allow
apply x.yaml --stop-on-error  ->  apply x.yaml --max-failures 0
apply x.yaml --fail-fast  ->  apply x.yaml --max-failures 0
apply x.yaml --max-fail-percentage 10  ->  apply x.yaml --max-failures 10%
apply x.yaml --serial 2  ->  apply x.yaml --batch 2
user list --debug  ->  user list --verbose
user list --curl  ->  ~plan FILE --as-curl
user list --log-level debug  ->  user list --verbose
user list 'lang in (de,fr)'  ->  ~a condition is written without blanks
user list not lang=zz  ->  ~field!=value excludes
user list !lang=en lang=zz  ->  user list lang!=en lang=zz
user list --columns username lang  ->  ~"lang" is a field
user list username lastname  ->  ~"username" is a field
user list --sort lang desc  ->  ~--sort -FIELD sorts
user list --sort lang --desc  ->  ~--sort -FIELD sorts
user list username=*min  ->  ~"*" stands for itself
user list viewer --exact  ->  ~field=value matches the whole value
user show --all  ->  user list
user fields  ->  profile show
user schema  ->  profile show
user add username=bob,lang=de  ->  ~put a blank between fields
user set bob lang:en  ->  ~write it as in lang=en
post user username=bob  ->  user add username=bob
runs -n 5  ->  ~"| head" cuts
runs --last  ->  runs show last
runs 1  ->  runs show 1
report --run k3f1  ->  report k3f1
changes --user bob  ->  changes bob
changes bob --last 1h  ->  changes bob --since 1h
pending clear  ->  pending drop ID
resume --all  ->  resume
export user users.csv  ->  export user --output users.csv
import users.csv --to sim1  ->  ~--on SELECTOR
trust check sim1  ->  trust scan sim1
credentials show sim1  ->  credentials sim1
token bob  ->  rotate token bob
tokens  ->  credentials
user tokens  ->  rotate token USER
history bob  ->  changes bob
trust accept --yes  ->  trust accept DEVICE --fingerprint HEX
trust accept sim1 --fingerprints 9F:86:D0:81:88:4C:7D:65:9A:2F  ->  ~one of them is --fingerprint HEX
trust accept sim1 --fingerprint file.tsv  ->  ~--fingerprints FILE
help missing  ->  help user list
help drift  ->  help user list
help password  ->  help rotate
help group  ->  help device add
help prompt  ->  help keys
user list --lang de  ->  user list lang=de
user list --lang=zz -q  ->  user list lang=zz -q
user list sim1:lang=de  ->  user list lang=de --on sim1
lockout bob --on sim1  ->  ~lockout always takes the whole inventory
export -o json  ->  export --format json
readonly  ->  config set readOnly true
connect sim1 --ro  ->  connect sim1 --read-only
user add username=dora, lastname=Doe  ->  ~the value of username ends with a comma
user set bob lastname=Doe, lang=de  ->  ~the value of lastname ends with a comma
user add 'username=dora&lang=de'  ->  ~put a blank between fields
user list /anke/  ->  ~field~regex searches with a pattern
user list username,lang  ->  ~--columns FIELDS chooses fields
user list lang=de,username=bob6  ->  ~conditions stand side by side, with blanks
# a verb or a word of another language
user patch bob lang en  ->  user set KEY FIELD=VALUE
user move bob to rob  ->  user set bob username=rob
user copy bob  ->  user add username=NAME
user copy bob to rob  ->  user add username=rob
user rotate bob  ->  rotate password bob
user list group by lang  ->  user list --count-by lang
user list order by lastname  ->  user list --sort lastname
user list sort lastname  ->  user list --sort lastname
user list --sort lastname,desc  ->  ~--sort -FIELD sorts in descending order
user set lang=en where lang=de  ->  user set --where lang=de lang=en
user set bob lang en  ->  ~write it as in lang=en
user add --from-file x.csv  ->  import x.csv user
user set bob lang=en --what-if  ->  user set bob lang=en --dry-run
user set bob lang=en --noop  ->  user set bob lang=en --dry-run
@lab user add username=x  ->  user add username=x --on @lab
lockout user bob  ->  lockout bob
forget sim6  ->  device remove sim6
remove sim6  ->  device remove sim6
tag sim3 muc  ->  device add sim3 --group muc
device set sim3 group=muc  ->  device add sim3 --group muc
device edit sim3 group=muc  ->  device add sim3 --group muc
device list @lab  ->  device list --on @lab
import new.csv users  ->  import new.csv user
export user to users.csv  ->  export user --output users.csv
who deleted bob  ->  changes bob
undo --list  ->  runs
redo  ->  runs
pending list  ->  pending
pending show  ->  pending
continue  ->  resume
cancel  ->  pending drop ID
report incident  ->  report --since 1h
batch x.devsh  ->  run x.devsh
readonly on  ->  config set readOnly true
config set timeoutMs 20  ->  config set timeoutMs 20000
help regex  ->  help filters
help search  ->  help filters
ssh-keyscan sim1  ->  trust scan sim1
keychain  ->  login
save password  ->  login
`;

const ROWS = GUESSES.split('\n')
  .filter((row) => row.includes('  ->  '))
  .map((row) => row.split('  ->  ') as [typed: string, meant: string]);

const grammar = { commands: COMMANDS, resourceFor: () => undefined };

/** A word that stands for what only the user knows: `KEY`, `FIELD=VALUE`. */
const PLACEHOLDER = /^[A-Z]+(?:=[A-Z]+)?$/;

/** Command, verb, words and options of a line, without placeholders; undefined if it does not parse. */
function meaningOf(line: string): unknown {
  const bound = attempt(UsageError, () => bind(parseCompleteLine(line), grammar));
  if (bound === undefined) return undefined;
  const { verb, args, given } = bound;
  // The same function runs.
  const runs: unknown = Reflect.get(verb, 'run');
  // `--filter` is the same as the words of a filter, and `devices` is `device list`.
  const { filter = [], ...options } = given;
  const words = verb.args.flatMap(({ name }) => args.all(name)).concat(filter);
  const isTold = ([, value]: [string, unknown]): boolean => !PLACEHOLDER.test(String(value));
  return {
    runs,
    words: words.filter((word) => !PLACEHOLDER.test(word)),
    options: Object.fromEntries(Object.entries(options).filter(isTold)),
  };
}

/** The lines that are offered: a single word replaces one of the typed words. */
function offeredLines(typed: string, stderr: string): string[] {
  const [, offered] = /did you mean '(.*)'\?$/m.exec(stderr) ?? [];
  const words = parseCompleteLine(typed).map(({ text }) => text);
  return (offered?.split("' or '") ?? []).map((text) => {
    const replaced = words.map((_, at) => quoteLine(words.with(at, text)));
    const lines = text.startsWith('-') ? replaced : [text, ...replaced];
    return lines.find((line) => meaningOf(line) !== undefined) ?? text;
  });
}

type Answer = 'right' | 'misleading' | 'none' | 'silent';

function answerOf(typed: string, meant: string, { stderr, exitCode }: Run): Answer {
  const isMeant = (line: string): boolean =>
    meaningOf(line) !== undefined && isDeepStrictEqual(meaningOf(line), meaningOf(meant));
  if (exitCode === 0) return isMeant(typed) ? 'right' : 'silent';
  const words = meant.slice(1).replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
  const told = new RegExp(words.replace(/\b[A-Z]{2,}\b/g, '\\S+'));
  if (meant.startsWith('~') && told.test(stderr)) return 'right';
  const offered = offeredLines(typed, stderr);
  if (offered.length === 0) return 'none';
  return offered.some(isMeant) ? 'right' : 'misleading';
}

test('most first guesses are answered by the right line, few by a wrong one, and none is run as another', async () => {
  const { devsh } = await startFleet();
  await devsh('config set on @lab');
  await devsh('device add spare 127.0.0.9:9');
  await devsh('user list');
  const answers: Record<Answer, string[]> = { right: [], misleading: [], none: [], silent: [] };
  const invalid: string[] = [];
  for (const [typed, meant] of ROWS) {
    const run = await devsh(parseCompleteLine(typed).map(({ text }) => text));
    answers[answerOf(typed, meant, run)].push(`${typed} -> ${run.stderr}`);
    const offered = offeredLines(typed, run.stderr);
    invalid.push(...offered.filter((line) => meaningOf(line) === undefined));
  }
  expect(ROWS.length).toBeGreaterThan(450);
  expect(answers.silent).toEqual([]);
  expect(invalid).toEqual([]);
  expect(answers.misleading.length, answers.misleading.join('')).toBeLessThan(0.08 * ROWS.length);
  expect(answers.right.length, answers.none.join('')).toBeGreaterThan(0.55 * ROWS.length);
});

test('JSON has the right line, too, with the options of the typed one', async () => {
  const devsh = await makeDevsh();
  const { stdout, exitCode } = await devsh('rm bob --on sim1 --json');
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: 'usage', column: 0, suggestions: ['user delete bob --on sim1 --json'] },
  });
  expect(exitCode).toBe(2);
});

test('what another tool means by a word is asked before a device is', async () => {
  const { devsh, devices } = await startFleet();
  for (const line of ['find list --on sim1', 'user export --on sim1', '100user list --on sim1']) {
    expect((await devsh(line)).exitCode).toBe(2);
  }
  expect(devices.flatMap(({ log }) => log)).toEqual([]);
});

test.each(['sim1', 'admin@sim1'])('devsh connect %s connects', async (target) => {
  const { devsh } = await startFleet({
    env: { DEVSH_PASSWORD: 'admin-secret', DEVSH_USER: 'admin' },
  });
  const { stdout, stderr, exitCode } = await devsh(['connect', target], { stdin: 'devices\n' });
  expect(stdout, stderr).toContain('sim1');
  expect(exitCode).toBe(0);
});

test('devsh ADDRESS and devsh USER@ADDRESS connect', async () => {
  const { devsh, device } = await startFleet({
    env: { DEVSH_PASSWORD: 'admin-secret', DEVSH_USER: '' },
  });
  const { address } = device(1);
  for (const target of [address, `admin@${address}`]) {
    const { stdout } = await devsh([target], { stdin: 'devices\n', env: { DEVSH_USER: 'admin' } });
    expect(stdout).toContain('sim1');
  }
  const two = await devsh([`a@${address}`, 'b@10.0.0.6']);
  expect(two.stderr).toContain('one line has one account');
});

test('login takes USER@DEVICE, as connect does', () => {
  const { given, args } = bind(parseCompleteLine('login admin@sim1'), grammar);
  expect(given.user).toBe('admin');
  expect(args.all('TARGET')).toEqual(['sim1']);
});

test.each(['add group berlin', 'set timeout 5', 'clear', 'device edit sim1'])(
  'nothing is suggested for "%s", rather than a wrong line',
  async (line) => {
    const devsh = await makeDevsh();
    const { stderr, exitCode } = await devsh(line);
    expect(stderr).not.toContain('did you mean');
    expect(exitCode).toBe(2);
  },
);

test('no hint deletes, locks or overrides what the line did not say', async () => {
  const devsh = await makeDevsh();
  const harmless = [
    'interface delete --where name~.',
    'plan user delete bob',
    'undo user delete bob',
    'apply x.yaml --drift',
    'rm -n bob',
    'rm bob --dry-rum',
    'unlock bob',
    'trust sim1',
    'pending clear',
  ];
  for (const line of harmless) {
    const { stderr, exitCode } = await devsh(line);
    expect(stderr).not.toMatch(/did you mean '[^']*(?:delete|drop|accept|lock|--allow)/);
    expect(exitCode).toBe(2);
  }
});

test('a word behind a noun that is no verb is an error if no record matches it', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  for (const line of [
    'user kill bob',
    'user kil',
    'user kill lang=de',
    'user kill --count-by lang',
  ]) {
    const { stderr, stdout, exitCode } = await devsh(`${line} --on @lab`);
    expect(stderr).toMatch(
      /no record matches it, and user has no verb "kill?"; it has list, show, add/,
    );
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  }
  const near = await devsh('user chnged --on @lab');
  expect(near.stderr).toContain('no record matches it, and user has no verb "chnged"');
  const search = await devsh('user list kill --on @lab');
  expect(search.exitCode).toBe(0);
  const found = await devsh('user viewer lang=zz --on @lab');
  expect(found.exitCode).toBe(0);
  // A device that was not read may have such a record.
  await device(2).close();
  const partly = await devsh('user kill --on @lab');
  expect(partly.stderr).toContain('not read: sim2) matches it');
  expect(partly.exitCode).toBe(3);
});

test('a word behind a noun may match a record that a cut list leaves out', async () => {
  const { devsh, device } = await startFleet({ devices: 1, users: 20 });
  expect(device(1).records('user')).toHaveLength(20);
  const { stderr, exitCode } = await devsh('user kill --on sim1');
  expect(stderr).toContain('a user that matches may be not in the list, which may be cut');
  expect(exitCode).toBe(3);
});

test('a secret in a guess is not repeated', async () => {
  const devsh = await makeDevsh();
  const { stderr } = await devsh('add user bob password=hunter2');
  expect(stderr).toContain("did you mean 'user add username=bob password=***'?");
  expect(stderr).not.toContain('hunter2');
});

test('a file that is called like a format is written with its folder', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  const line = ['export', '--on', 'sim1', '-o', `${devsh.folder}/json`];
  const { exitCode, stderr } = await devsh(line);
  expect(exitCode, stderr).toBe(0);
});

test('the same is said at a prompt that reads from a pipe, and in a script', async () => {
  const devsh = await makeDevsh();
  const { stderr } = await devsh([], { stdin: 'rm bob\n' });
  expect(stderr).toContain("did you mean 'user delete bob'?");
  const added = await devsh([], { stdin: 'user add bob\n' });
  expect(added.stderr).toContain('write it as in username=bob');
  const script = await devsh('run -', { stdin: 'rm bob\n' });
  expect(script.stderr).toContain("did you mean 'user delete bob'?");
});

test('the quit commands of other tools work here, too', async () => {
  const devsh = await makeDevsh();
  expect((await devsh(['exit'])).exitCode).toBe(0);
});

test('a resource that is named like such a word can be reached anyway', async () => {
  const { devsh } = await startFleet();
  const { exitCode } = await devsh(['resource', 'find', 'list', '--on', 'sim1']);
  expect(exitCode).not.toBe(2);
});

test('a resource that is named like a noun of another tool can be reached anyway', async () => {
  const { devsh, device } = await startFleet();
  const { stderr, exitCode } = await devsh('hosts list --on sim1');
  expect(stderr).toContain("did you mean 'device list --on sim1'?");
  expect(exitCode).toBe(2);
  expect(device(1).log).toEqual([]);
  await devsh('resource hosts list --on sim1');
  expect(device(1).log.map(({ path }) => path)).toContain('/api/hosts/');
});
test('a condition in the place of a key points to --where', async () => {
  const { devsh, writes } = await startFleet({ devices: 1 });
  const hint = '--where "lang=en" selects by fields';
  const changed = await devsh('user set lang=en lang=de --on sim1 --yes');
  expect(changed.stdout).toContain(hint);
  const deleted = await devsh('user delete lang=en --on sim1 --yes');
  expect(deleted.stdout).toContain(hint);
  expect(writes()).toEqual([]);
});

test('an address or a device in place of a filter is taken for the device', async () => {
  const devsh = await makeDevsh();
  const { stderr } = await devsh('user list 127.0.0.2:1');
  expect(stderr).toContain("did you mean 'user list --on 127.0.0.2:1'?");
  await devsh('device add fw1 127.0.0.2:1');
  expect((await devsh('user list fw1')).stderr).toContain("did you mean 'user list --on fw1'?");
});

test('a misspelled noun and a misspelled verb behind it offer a noun with such a verb first', () => {
  const spelled = COMMANDS.flatMap((command) =>
    namedVerbs(command)
      .filter(({ name }) => name.length > 3)
      .map(({ name }) => [command.name, name] as const),
  );
  const names = COMMANDS.map(({ name }) => name);
  const slipped = (word: string, at: number, slip: string): string => {
    const place = 1 + (at % (word.length - 1));
    return word.slice(0, place) + slip + word.slice(place + (slip.length === 2 ? 0 : 1));
  };
  const slip = fc.constantFrom('', 'x', 'qz');
  const typo = fc.tuple(fc.constantFrom(...spelled), fc.nat(9), fc.nat(9), slip, slip);
  fc.assert(
    fc.property(typo, ([[noun, verb], at, other, one, two]) => {
      const [typed, behind] = [slipped(noun, at, one), slipped(verb, other, two)];
      fc.pre(!names.includes(typed) && suggest(typed, names)[0] !== undefined);
      const offered = attemptBind(`${typed} ${behind}`);
      const [first = ''] = offered;
      const [command, own] = first.split(' ');
      const isOffered = offered.some((line) => line.startsWith(`${noun} ${verb}`));
      const found = commandNamed(COMMANDS, command);
      if (isOffered) expect(found && verbNamed(found, own), `${typed} ${behind}`).toBeDefined();
    }),
    { numRuns: 300 },
  );
  expect(attemptBind('usr lst')[0]).toBe('user list');
  expect(attemptBind('rns shw')).toEqual(['runs show']);
});

/** What the mistake in a line offers. */
function attemptBind(line: string): readonly string[] {
  try {
    bind(parseCompleteLine(line), grammar);
    return [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.suggestions;
  }
}
