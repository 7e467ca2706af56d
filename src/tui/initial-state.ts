import { parseFilter } from '../fleet/filter.ts';
import { defaultView } from '../shell/records/kept-columns.ts';
import type { ThemeName } from '../text/choices.ts';
import { VI_START } from './editor/vi.ts';
import { KEYMAP } from './keys/default-keymap.ts';
import type { Keymap } from './keys/key-binding.ts';
import { EMPTY_EDITING } from './editor/line.ts';
import type { State, TableFilter, TableState } from './state.ts';
import type { Size } from './terminal/painter.ts';
import type { Find } from './views/overlay.ts';

const EVERYTHING = parseFilter('');

export const NO_FILTER: TableFilter = {
  editing: EMPTY_EDITING,
  isOpen: false,
  parsed: EVERYTHING,
  applied: EVERYTHING,
  problem: undefined,
};

/** The main table's resource as long as no line asks for another one. */
const RESOURCE = 'user';

export const NO_FIND: Find = {
  editing: EMPTY_EDITING,
  isOpen: false,
  at: undefined,
  isOnly: false,
  sort: undefined,
};

/** A table that nothing was read for. */
export function newTable(source: Pick<TableState, 'command' | 'commandFilter' | 'scope' | 'view'>) {
  return {
    ...source,
    reads: new Map(),
    isFolded: true,
    turnedRows: new Set<string>(),
    sort: undefined,
    filter: NO_FILTER,
    cursor: 0,
    top: 0,
    shift: 0,
    marks: new Set<string>(),
    range: undefined,
    watchMs: undefined,
    changes: undefined,
  } satisfies TableState;
}

/** The screen as a session begins, before anything was read or typed. */
export function initialState(
  size: Size,
  keymap: Keymap = KEYMAP,
  isVi = false,
  theme?: ThemeName,
): State {
  return {
    size,
    theme,
    keymap,
    pendingKeys: undefined,
    focus: 'prompt',
    prompt: {
      editing: EMPTY_EDITING,
      vi: isVi ? VI_START : undefined,
      history: [],
      recall: undefined,
      search: undefined,
      menu: undefined,
      problem: undefined,
    },
    table: newTable({
      command: `${RESOURCE} list`,
      commandFilter: '',
      view: defaultView(RESOURCE),
      scope: undefined,
    }),
    fleet: {
      devices: [],
      selected: [],
      isNarrowed: false,
      prompt: 'devsh> ',
      questions: [],
      rights: [],
      isReadOnly: false,
      denied: new Map(),
    },
    firstRun: undefined,
    nextSteps: [],
    lastSeen: new Map(),
    log: { current: [], all: [] },
    work: undefined,
    reading: undefined,
    overlay: { kind: 'none' },
    trail: [],
    tables: new Map(),
    find: NO_FIND,
    form: undefined,
    drafts: new Map(),
    questions: [],
  };
}
