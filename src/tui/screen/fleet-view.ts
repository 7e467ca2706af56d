import { openQuestions } from '../../shell/commands/questions.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { visible } from '../../text/visible.ts';
import { deniedWrites } from '../../shell/writing/denied-writes.ts';
import { CHANGED, deviceFacts } from '../../shell/devices/probe.ts';
import { labelsOf, promptText } from '../../shell/session.ts';
import type { FleetView } from '../state.ts';

export function fleetView(fleet: Fleet, isReadOnly: boolean, usual?: string): FleetView {
  const questions = openQuestions(fleet);
  return {
    devices: fleet.connected.map((session) => {
      const { ref, state, failure } = session;
      return {
        name: ref.name,
        address: ref.address,
        // A device stays failed while devsh tries it again.
        kind: failure === undefined ? state.kind : 'failed',
        error: failure,
        since: failure === undefined ? undefined : session.failsSince,
        facts: deviceFacts(session),
      };
    }),
    selected: fleet.selection.map(({ ref }) => ref.name),
    isNarrowed: fleet.isNarrowed,
    questions,
    prompt: promptText(fleet, usual),
    color: labelsOf(fleet.selection.map(({ entry }) => entry)).color,
    rights: fleet.connected.length === 0 ? [] : rightsOf(fleet.selection, isReadOnly, questions),
    isReadOnly:
      isReadOnly ||
      (fleet.selection.length > 0 && fleet.selection.every(({ entry }) => entry.readOnly)),
    denied: deniedWrites(fleet.selection),
  };
}

/** "as admin · pinned · read-write": the account, the trust, and whether writes are allowed. */
function rightsOf(
  sessions: readonly DeviceSession[],
  isReadOnly: boolean,
  questions: FleetView['questions'],
): FleetView['rights'] {
  // A device that has not responded yet has no proven account or trust.
  const known = sessions.filter(({ state, trust }) => {
    return state.kind === 'ready' || trust?.kind === 'insecure';
  });
  const accounts = distinct(known.map(({ account }) => account));
  const trusts = distinct(known.map(({ trust }) => trust && TRUSTS[trust.kind]));
  const [account] = accounts;
  // The badge of open questions already counts these.
  const isAsked = questions.some(({ kind }) => kind === 'changed');
  const changed = sessions.filter(
    (session) =>
      !isAsked && session.state.kind === 'failed' && deviceFacts(session).trust === CHANGED,
  ).length;
  const readOnly = sessions.filter(({ entry }) => entry.readOnly === true).length;
  const mode =
    isReadOnly || readOnly === sessions.length
      ? 'read-only'
      : readOnly > 0
        ? `${readOnly} read-only`
        : 'read-write';
  return [
    ...(account === undefined
      ? []
      : [accounts.length > 1 ? `as ${accounts.length} accounts` : `as ${visible(account)}`]),
    ...trusts,
    ...(changed === 0 ? [] : [`${changed} ${CHANGED}`]),
    mode,
  ].map((text) => ({ text, isAlarming: text === TRUSTS.insecure || text.endsWith(CHANGED) }));
}

const TRUSTS = {
  pinned: 'pinned',
  ca: 'own CA',
  system: 'system CA',
  insecure: 'NOT CHECKED',
} as const;

function distinct(texts: readonly (string | undefined)[]): string[] {
  return [...new Set(texts.filter((text) => text !== undefined))];
}
