import { createContext } from 'react';

/** The private use area: no line reaches Ink but through here, so none of these is anything else. */
const FIRST_MARK = 0xe000;
const LAST_MARK = 0xf8ff;
const MARKS = /[\ue000-\uf8ff]/g;

/**
 * Leads lines past Ink, which takes whatever it draws apart and together again, character by character:
 * most of what a frame would cost, and for nothing, since our lines are cut and coloured already. Ink
 * lays out one mark for each line; the finished frame gets the lines back.
 */
export class LineMarks {
  /** The one that was asked for longest ago comes first. */
  readonly #marks = new Map<string, string>();
  readonly #lines = new Map<string, string>();

  /**
   * One character, one cell wide, that stands for this line. Lines of the last frame keep their marks:
   * a screen has fewer rows than there are marks.
   */
  markOf(line: string): string {
    const mark = this.#marks.get(line) ?? this.#freeMark();
    this.#marks.delete(line);
    this.#marks.set(line, mark);
    this.#lines.set(mark, line);
    return mark;
  }

  /** A frame with the lines in the places of their marks. */
  restored(frame: string): string {
    return frame.replace(MARKS, (mark) => this.#lines.get(mark) ?? mark);
  }

  #freeMark(): string {
    const next = FIRST_MARK + this.#marks.size;
    if (next <= LAST_MARK) return String.fromCharCode(next);
    const [[line, mark] = ['', '']] = this.#marks;
    this.#marks.delete(line);
    return mark;
  }
}

/** Of the screen that a component is drawn on. */
export const LineMarksContext = createContext(new LineMarks());
