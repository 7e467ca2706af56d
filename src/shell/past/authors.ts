import { attributed, stepsByRecord, type WrittenStep } from '../../history/attribution.ts';
import { type Event, spansOf } from '../../history/events.ts';
import type { Life } from '../../history/replay.ts';
import { type SentStep, sentSteps, writtenSteps } from '../../history/written-steps.ts';
import { DevshError } from '../../errors.ts';
import { EmptyJournalError } from '../../change/plan.ts';
import { someOf } from '../../text/one-line.ts';
import type { Services } from '../services.ts';
import { loadRun } from '../writing/stored-runs.ts';

/** What the journals say about who did a change. */
export type Author =
  | { readonly kind: 'run'; readonly run: string; readonly line: string }
  /** A run wrote to the record in that time, but not, as far as is proved, what changed. */
  | { readonly kind: 'perhaps'; readonly run: string }
  | { readonly kind: 'other' }
  /** Some journals cannot be read. */
  | { readonly kind: 'unknown' };

/** What the runs of this devsh sent. */
export class Authors {
  readonly #written: WrittenStep[] = [];
  readonly #sent: SentStep[] = [];
  #sentOf: ReturnType<typeof stepsByRecord<SentStep>> | undefined;
  /** The runs whose journals cannot be read. */
  readonly unreadable: string[] = [];

  /**
   * Reads the journals that were written to after `time` (ms UTC). A run on a device of the same name with another
   * address than these lives have, as in an imported journal, proves nothing about them.
   */
  static async since(
    services: Services,
    time: number,
    lives: readonly Pick<Life, 'identity'>[],
  ): Promise<Authors> {
    const authors = new Authors();
    const known = new Set(lives.map(({ identity }) => nameAndAddress(identity)));
    for (const id of await services.runs.idsSince(time)) {
      try {
        const run = await loadRun(services, id);
        const devices = run.plan.devices.filter(({ device }) => known.has(nameAndAddress(device)));
        authors.#written.push(...writtenSteps({ ...run, plan: { ...run.plan, devices } }));
        authors.#sent.push(...sentSteps(run));
      } catch (error) {
        if (error instanceof EmptyJournalError) continue;
        if (!(error instanceof DevshError)) throw error;
        authors.unreadable.push(id);
      }
    }
    return authors;
  }

  attribute(events: readonly Event[]): Event[] {
    return attributed(events, this.#written);
  }

  /** Undefined for what nobody writes: a new life, another shape. */
  of(event: Event): Author | undefined {
    if (!('key' in event)) return undefined;
    if (event.kind === 'added' && event.after === undefined) return undefined;
    if (event.by !== undefined) return { kind: 'run', run: event.by.run, line: event.by.line };
    const spans = spansOf(event);
    this.#sentOf ??= stepsByRecord(this.#sent);
    const near = this.#sentOf(event).findLast(({ sentAt, endedAt }) =>
      spans.some(([from, to]) => Math.max(sentAt, endedAt) >= from && sentAt <= to),
    );
    if (near !== undefined) return { kind: 'perhaps', run: near.run };
    return { kind: this.unreadable.length > 0 ? 'unknown' : 'other' };
  }

  /** `run k3f (user delete jdoe)`, `not by a run of this devsh`. */
  text(event: Event): string {
    const author = this.of(event);
    switch (author?.kind) {
      case undefined:
        return '';
      case 'run':
        return `run ${author.run}: ${author.line}`;
      case 'perhaps':
        return `unclear: run ${author.run} wrote to it then`;
      case 'other':
        return 'not by a run of this devsh';
      case 'unknown':
        return `unclear: cannot read ${someOf(this.unreadable, 2)}`;
    }
  }
}

function nameAndAddress({ name, address }: { name: string; address: string }): string {
  return JSON.stringify([name, address]);
}
