import type { Finding } from '../doctor.ts';
import { DEVICES } from '../grammar/options.ts';
import { command } from '../command.ts';
import { TARGETS } from '../arguments.ts';
import { countsText } from '../../text/one-line.ts';
import { table, info } from '../output.ts';

export const doctor = command({
  name: 'doctor',
  brief: 'Check this machine, the files of devsh, and devices',
  section: 'Shell',
  summary: 'Check Node, terminal, files, keychain, and how devices respond',
  args: [TARGETS],
  options: [...DEVICES],
  changes: 'nothing',
  details:
    'Sends one GET to each named device, or to those of the session. It changes nothing and shows no secret,\n' +
    'so --json fits in a bug report. It names devices and paths: look at it before you publish it.',
  examples: ['doctor', 'doctor @berlin --json'],
  async *run(call) {
    const findings: Finding[] = [];
    const { allFindings, isOwn } = await import('../doctor.ts');
    for await (const finding of allFindings(call)) {
      findings.push(finding);
      const text = `checking: ${finding.area}`;
      yield { kind: 'progress', done: findings.length, total: findings.length, text };
    }
    yield table(
      'checks',
      ['area', 'what', 'state', 'detail'],
      byArea(findings, isOwn).map(({ area, what, state, detail }) => ({
        area,
        what,
        state,
        detail,
      })),
      // Counts devices only: a recent Node does not make up for a device that is down.
      { hasSuccess: findings.some(({ what, state }) => what === 'login' && state === 'ok') },
    );
    for (const { error } of findings) {
      if (error !== undefined) yield { kind: 'error', error };
    }
    const states = findings.map(({ state }) => state);
    const words = { failed: 'failed', warning: 'warning', ok: 'ok' };
    yield info(
      countsText(
        states.filter((state) => state !== 'not used'),
        words,
      ),
    );
  },
});

/** Groups the findings by device, `fw2` before `fw10`: devices respond in any order. */
function byArea(findings: readonly Finding[], isOwn: (finding: Finding) => boolean): Finding[] {
  const devices = findings.filter((finding) => !isOwn(finding));
  const inOrder = devices.sort((a, b) => a.area.localeCompare(b.area, 'en', { numeric: true }));
  return [...findings.filter(isOwn), ...inOrder];
}
