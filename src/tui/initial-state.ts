import { defaultView } from '../shell/records/read-records.ts';
import type { ThemeName } from '../text/choices.ts';
import { EMPTY_EDITING } from './editor/line.ts';
import { KEYMAP } from './keys/default-keymap.ts';
import { type Keymap, type State, NO_FIND } from './state.ts';
import { newTable } from './table/table-state.ts';
import type { Size } from './terminal/painter.ts';

/** The main table's resource until a line asks for another one. */
const RESOURCE = 'user';

export function initialState(size: Size, keymap: Keymap = KEYMAP, theme?: ThemeName): State {
  return {
    size,
    theme,
    keymap,
    pendingKeys: undefined,
    focus: 'prompt',
    isPaneHidden: false,
    prompt: {
      editing: EMPTY_EDITING,
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
    pending: new Map(),
    recordHistory: undefined,
    log: { current: [], all: [] },
    work: undefined,
    rollOut: undefined,
    reading: undefined,
    overlay: { kind: 'none' },
    backStack: [],
    tables: new Map(),
    find: NO_FIND,
    form: undefined,
    drafts: new Map(),
    questions: [],
  };
}
