import { jsonText } from '../../device/record.ts';
import type { Response } from '../../device/exchange.ts';
import type { Device, RawRequest } from '../../device/device.ts';
import type { FormPairs } from '../../device/encode.ts';
import { redact, secretsInQuery } from '../../device/sensitive-fields.ts';
import type { DeviceError } from '../../device/errors.ts';
import { DevshError, expectedError, UsageError } from '../../errors.ts';
import { fanOut, type Width } from '../../fleet/fan-out.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { type ArgSpec, type Call, command } from '../command.ts';
import { info, type Output } from '../output.ts';
import { CHANGE, DEVICES } from '../grammar/options.ts';
import { notAssigned, refuseJoined } from '../arguments.ts';
import { jsonIn } from '../../device/json.ts';

const PATH: ArgSpec = {
  name: 'PATH',
  summary: 'a path from the root, as in /api/user/',
  isRequired: true,
  complete: () => [{ text: '/api/user/' }, { text: '/api/' }],
};

export const get = command({
  name: 'get',
  synonyms: ['curl'],
  brief: 'Send a GET and print the response',
  section: 'Raw API',
  summary: 'Send a GET to each selected device and print the responses',
  args: [PATH],
  options: [...DEVICES, 'profile', 'raw'],
  changes: 'nothing',
  details:
    'devsh follows a list of several pages to its end and prints its records as one list, or as JSON lines\n' +
    'page by page. --raw prints only the first response.',
  examples: ['get /api/', 'get /api/user/ --raw'],
  async *run(call) {
    const path = pathOf(call);
    const sessions = await call.sessions();
    const pages: Work = (session, emit) => getPages(call, session, path, emit);
    yield* each(call, sessions, call.readWidth, pages);
  },
});

/** Reads one response, or all records of a list with several pages. */
async function getPages(
  call: Call<'raw'>,
  session: DeviceSession,
  path: string,
  emit: (output: Output) => void,
): Promise<Output[]> {
  const { raw, format } = call.options;
  const { response: first, error } = await exchange(call, session, { method: 'GET', path });
  const secrets = secretsInQuery(path);
  const show = (response: Response, error?: DeviceError): Output[] =>
    answerOutput(call, session, { ...response, body: redact(response.body, secrets) }, error);
  const shown = show(first, error);
  if (raw) return shown;
  let pages = 1;
  const onPage = (response: Response): void => {
    pages += 1;
    if (format !== 'jsonl') return;
    // The second page shows that there is more than one.
    if (pages === 2) shown.forEach(emit);
    show(response).forEach(emit);
  };
  const records = await session.use(call.access, (device) =>
    device.allPages(path, first, onPage, call.io.signal),
  );
  if (records === undefined) return shown;
  const summary = info(`${session.ref.name}: ${records.length} records on ${pages} pages`);
  if (format === 'jsonl') return [summary];
  const all = { kind: 'answer', device: session.ref, status: first.status } as const;
  const body = redact(jsonText(records), secrets);
  return [{ ...all, body, value: secrets.length === 0 ? records : jsonIn(body) }, summary];
}

export const post = command({
  name: 'post',
  brief: 'Send a POST and print the response',
  section: 'Raw API',
  summary: 'Send a POST to each selected device, in turn',
  args: [PATH, { name: 'FIELD=VALUE', summary: 'a field; may repeat', isRest: true }],
  options: [...CHANGE, 'raw'],
  details:
    'Each word is one field, sent as text in the encoding that the profile states, a form or JSON; one like a=1&b=2\n' +
    'needs --allow invalid. devsh compares the words with the records of the nearest list: a record that they name\n' +
    'is planned, guarded, journaled and read back as by "user set", a new one as by "user add".\n' +
    'What devsh cannot tell is sent to accounts only with --allow unread; then devsh reads the list again and says\n' +
    'what is different. Its verdict in the journal is "unknown", and "undo" cannot take it back.',
  examples: ['post /api/user/ uuid=null first_name=Bob lastname=Builder username=bob lang=de'],
  async *run(call) {
    const words = call.args.words('FIELD=VALUE');
    const joined = words.filter(({ text }) => text.includes('&'));
    if (!call.options.allow.has('invalid')) refuseJoined(joined, () => true);
    const form = words.map(({ text, start }) => {
      const at = text.indexOf('=');
      if (at < 1) throw notAssigned(text, start);
      return [text.slice(0, at), text.slice(at + 1)] as const;
    });
    yield* sendRaw(call, 'POST', form);
  },
});

export const remove = command({
  name: 'delete',
  brief: 'Send a DELETE for one record and print the response',
  section: 'Raw API',
  summary: 'Send a DELETE for one record to each selected device, in turn',
  args: [PATH],
  options: [...CHANGE, 'raw'],
  details:
    'The record that it names is planned, guarded, journaled and read back as by "user delete". Where no list\n' +
    'shows it, devsh reads the path: one object whose id or key is its last part is one record, all else needs\n' +
    '--allow unread. devsh always refuses the path of a known list.',
  examples: ['delete /api/user/6f1c2b1e-8a51-4b0e-9d6f-0c4b8f0a7d11/'],
  run: (call) => sendRaw(call, 'DELETE'),
});

/** Sends the request to each device in turn after a confirmation. */
async function* sendRaw(
  call: Call<(typeof CHANGE)[number] | 'raw'>,
  method: 'POST' | 'DELETE',
  form?: FormPairs,
): AsyncGenerator<Output> {
  const path = pathOf(call);
  const { writeRaw } = await import('../writing/raw-requests.ts');
  const { exclusively } = await import('../writing/execute.ts');
  const outputs = writeRaw(call, { method, path, form }, (requests) =>
    each(call, [...requests.keys()], call.writeWidth, async (session) => {
      const sent = () => exchange(call, session, { method, path, ...requests.get(session) });
      const { response, error } = await exclusively(call, session.ref, sent);
      return answerOutput(call, session, response, error);
    }),
  );
  for await (const output of outputs) {
    const isParsed = output.kind === 'answer' && !call.options.raw;
    yield isParsed ? { ...output, value: jsonIn(output.body) } : output;
  }
}

function pathOf(call: Call): string {
  const path = call.args.required('PATH');
  const column = call.args.words('PATH')[0]?.start;
  if (!path.startsWith('/') || path.startsWith('//')) {
    throw new UsageError(`"${path}" is not a path from the root: start it with one /`, { column });
  }
  return path;
}

type Work = (session: DeviceSession, emit: (output: Output) => void) => Promise<Output[]>;

/** Runs one request for each device. The error of a device becomes an output; the other devices continue. */
async function* each(
  call: Call,
  sessions: readonly DeviceSession[],
  width: Width,
  work: Work,
): AsyncGenerator<Output> {
  const run = async (session: DeviceSession, emit: (output: Output) => void): Promise<void> => {
    const outputs = await work(session, emit).catch(expectedError);
    if (outputs instanceof DevshError) emit({ kind: 'error', error: outputs, device: session.ref });
    else outputs.forEach(emit);
  };
  yield* fanOut(sessions, width, run, call.io.signal);
}

function exchange(
  call: Call,
  session: DeviceSession,
  request: RawRequest,
): Promise<{ response: Response; error: DeviceError | undefined }> {
  const work = async (device: Device) => {
    const response = await device.raw(request);
    const error = device.failureOf(request, response);
    // After a refused login a GET may ask for another one; every other response is shown.
    if (error !== undefined && response.status === 401) throw error;
    return { response, error };
  };
  return session.use(call.access, work, { isWrite: request.method !== 'GET' });
}

/** The response, with an error if its status is no success. */
function answerOutput(
  call: Call<'raw'>,
  session: DeviceSession,
  response: Response,
  error?: DeviceError,
): Output[] {
  const { ref: device } = session;
  const { status, body } = response;
  const value = call.options.raw ? undefined : jsonIn(body);
  const shown: Output = { kind: 'answer', device, status, body, value };
  return error === undefined ? [shown] : [shown, { kind: 'error', error, device }];
}
