import { SettingsError } from '../errors.ts';
import { fileStamp, readText, writeTextAtomically } from './files.ts';
import { keepAside, type GoodCopy } from './good-copy.ts';
import { withLock } from './lock.ts';
import { formatPin, parsePin, parsePinLines, pinsIn, type Pin, type PinLine } from './pin-lines.ts';

/** A pin that devsh wrote, and that the file does not hold so any more. */
export interface Doubt {
  readonly pin: Pin;
  readonly reason: 'gone' | 'differs';
}

/** What the file holds, and what speaks against it. */
export interface Book {
  readonly pins: ReadonlyMap<string, Pin>;
  readonly doubts: readonly Doubt[];
}

const HEADER = '# Certificates that devsh trusts, one line a device. See `devsh help trust`.';

/**
 * The pins in the file `known-devices`, which people may read and edit:
 * `10.0.0.5:443 sha256:AB:CD:… first-seen=2026-11-21T10:00:00.000Z valid-to=… subject=CN=fw1`.
 * A change to the file counts at once, each change of ours happens under its lock: two devshes lose nothing.
 * A line that cannot be understood is a SettingsError with its number, and nothing is written.
 * What devsh writes it writes to a good copy, too: a pin that is gone from the file, or differs, is in
 * doubt until `restore` brings it back or a command pins or forgets the device anew.
 */
export class KnownDevices {
  readonly path: string;
  readonly #copy: GoodCopy;
  /** What the file held when it last had this stamp. */
  #seen: { readonly stamp: string; readonly book: Book } | undefined;

  constructor(path: string, copy: GoodCopy) {
    this.path = path;
    this.#copy = copy;
  }

  async find(address: string): Promise<Pin | undefined> {
    return (await this.book()).pins.get(address);
  }

  async all(): Promise<Pin[]> {
    return [...(await this.book()).pins.values()];
  }

  /** The pins that something else than devsh has taken away or altered. */
  async doubts(): Promise<readonly Doubt[]> {
    return (await this.book()).doubts;
  }

  /** All of it as it is now, for whoever asks for many devices at once. */
  async book(): Promise<Book> {
    // Taken before reading: a change in between makes the next call read again.
    const stamp = await fileStamp(this.path);
    if (this.#seen?.stamp !== stamp) {
      const lines = await this.#lines();
      const doubts = doubtsOf(lines, (await this.#copyLines()) ?? []);
      this.#seen = { stamp, book: { pins: pinsIn(lines), doubts } };
    }
    return this.#seen.book;
  }

  /** Pins certificates, all in one step; each replaces the pin that its address had. */
  async set(...pins: readonly Pin[]): Promise<void> {
    const added = new Map(
      pins.map((pin): [string, PinLine] => {
        const text = formatPin(pin);
        // What cannot be read back must not get into the file.
        return [pin.address, { text, pin: parsePin(text, this.path) }];
      }),
    );
    await this.#edit((lines) => {
      const held = new Set(lines.map(({ pin }) => pin?.address));
      const kept = lines.map((line) => (line.pin && added.get(line.pin.address)) ?? line);
      return [...kept, ...[...added].flatMap(([at, line]) => (held.has(at) ? [] : [line]))];
    });
  }

  /** Forgets a pin; says whether there was one. */
  async remove(address: string): Promise<boolean> {
    let wasKnown = false;
    await this.#edit((lines) => {
      const kept = lines.filter(({ pin }) => pin?.address !== address);
      wasKnown ||= kept.length < lines.length;
      return kept;
    });
    return wasKnown;
  }

  /**
   * Brings the good copy back, with the pins that only the file has; what the file held is kept aside.
   * Throws a SettingsError when there is no copy.
   */
  async restore(now: Date): Promise<{ readonly pins: number; readonly aside: string | undefined }> {
    return withLock(this.path, async () => {
      const good = await this.#copyLines();
      if (good === undefined) {
        throw new SettingsError(`there is no good copy of ${this.path} to restore`);
      }
      const known = pinsIn(good);
      const added = (await this.#soundLines()).filter(({ pin }) => pin && !known.has(pin.address));
      const aside = await keepAside(this.path, now);
      const lines = [...good, ...added];
      await writeTextAtomically(this.path, textOf(lines));
      await this.#copy.keep(textOf(lines));
      return { pins: pinsIn(lines).size, aside };
    });
  }

  /** Makes the same change to the file and to its good copy, which may hold more. */
  async #edit(change: (lines: readonly PinLine[]) => readonly PinLine[]): Promise<void> {
    await withLock(this.path, async () => {
      const lines = await this.#lines();
      const copy = await this.#copyLines();
      const isInDoubt = copy !== undefined && doubtsOf(lines, copy).length > 0;
      const changed = change(lines);
      if (textOf(changed) !== textOf(lines)) await writeTextAtomically(this.path, textOf(changed));
      await this.#copy.keep(textOf(isInDoubt ? change(copy) : changed));
    });
  }

  async #lines(): Promise<readonly PinLine[]> {
    try {
      const text = (await readText(this.path)) ?? `${HEADER}\n`;
      return text === '' ? [] : parsePinLines(text, this.path);
    } catch (error) {
      const copy = await this.#copyLines();
      if (!(error instanceof SettingsError) || copy === undefined) throw error;
      throw new SettingsError(
        `${error.message}; "trust restore" brings back what devsh wrote last (${pinsIn(copy).size} pins)`,
        { cause: error },
      );
    }
  }

  /** The lines of a damaged file that can be understood. */
  async #soundLines(): Promise<readonly PinLine[]> {
    const text = await readText(this.path).catch(() => undefined);
    return (text ?? '').split('\n').flatMap((line) => {
      try {
        return parsePinLines(line, this.path);
      } catch (error) {
        if (error instanceof SettingsError) return [];
        throw error;
      }
    });
  }

  /** Undefined when there is no good copy, or it is damaged itself. */
  async #copyLines(): Promise<readonly PinLine[] | undefined> {
    const text = await this.#copy.read();
    try {
      return text === undefined ? undefined : parsePinLines(text, this.#copy.path);
    } catch (error) {
      if (error instanceof SettingsError) return undefined;
      throw error;
    }
  }
}

function doubtsOf(lines: readonly PinLine[], copy: readonly PinLine[]): Doubt[] {
  const held = pinsIn(lines);
  return [...pinsIn(copy).values()].flatMap((pin): Doubt[] => {
    const now = held.get(pin.address);
    if (now === undefined) return [{ pin, reason: 'gone' }];
    return formatPin(now) === formatPin(pin) ? [] : [{ pin, reason: 'differs' }];
  });
}

function textOf(lines: readonly PinLine[]): string {
  return lines.map(({ text }) => `${text}\n`).join('');
}
