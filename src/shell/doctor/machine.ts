import { UsageError } from '../../errors.ts';
import type { Machine, Services } from '../session.ts';
import type { Finding } from './finding.ts';

/** The floor that package.json names. */
const OLDEST_NODE = [20, 18, 1] as const;

/** Node, the terminal and the way out to the network. */
export function* machineFindings(services: Services): Generator<Finding> {
  const { machine, version } = services;
  yield { area: 'machine', what: 'devsh', state: 'ok', detail: version };
  yield {
    area: 'machine',
    what: 'node',
    state: isOldEnough(machine.node) ? 'ok' : 'failed',
    detail: `${machine.node} on ${machine.system}`,
  };
  yield terminalFinding(machine);
  yield localeFinding(machine);
  yield proxyFinding(services);
}

function proxyFinding({ environmentProxy }: Services): Finding {
  const about = { area: 'machine', what: 'proxy' } as const;
  try {
    const proxy = environmentProxy();
    if (proxy === undefined) {
      return { ...about, state: 'not used', detail: 'no proxy in the environment' };
    }
    const { url, variable, noProxy } = proxy;
    const but = noProxy === '' ? '' : `, not for ${noProxy}`;
    return { ...about, state: 'ok', detail: `${url} by ${variable}${but}` };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { ...about, state: 'failed', detail: error.message };
  }
}

function terminalFinding({ terminal }: Machine): Finding {
  const about = { area: 'machine', what: 'terminal' } as const;
  if (!terminal.isTty) {
    return { ...about, state: 'not used', detail: 'the output goes to a file or a program' };
  }
  const { columns, rows, type } = terminal;
  const size = `${type}, ${columns} x ${rows}`;
  if (type === 'dumb') return { ...about, state: 'ok', detail: `${size}: line by line` };
  const isSmall = columns < 40 || rows < 10;
  return {
    ...about,
    state: isSmall ? 'warning' : 'ok',
    detail: isSmall ? `${size}: the full screen needs 40 x 10` : size,
  };
}

function localeFinding({ locale }: Machine): Finding {
  const isUtf8 = /utf-?8/i.test(locale);
  return {
    area: 'machine',
    what: 'locale',
    state: isUtf8 ? 'ok' : 'warning',
    detail: isUtf8 ? locale : `${locale || 'not set'}: without UTF-8 other letters may look wrong`,
  };
}

function isOldEnough(version: string): boolean {
  const parts = version.replace(/^v/, '').split('.').map(Number);
  for (const [index, floor] of OLDEST_NODE.entries()) {
    const part = parts[index] ?? 0;
    if (part !== floor) return part > floor;
  }
  return true;
}
