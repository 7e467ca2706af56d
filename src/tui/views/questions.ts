import { expiryText } from '../../shell/access/certificates.ts';
import type { DeviceQuestion } from '../../shell/commands/questions.ts';
import { quoteWord } from '../../text/words.ts';
import { counted } from '../../text/one-line.ts';
import { visible } from '../../text/visible.ts';
import { firstOf, key, keysOf, lineKey, noRow, type Reason } from '../keys/binding.ts';
import { textOfLine } from '../screen/theme.ts';
import type { LogLine, State } from '../state.ts';
import { wrapped } from './plan-lines.ts';
import { type ListColumn, type ListOf, listOf, type OverOf } from './view.ts';

type QuestionsOver = OverOf<'questions'>;

const WORDS = { changed: 'CHANGED certificate', certificate: 'certificate', login: 'login' };

const COLUMNS: readonly ListColumn<DeviceQuestion>[] = [
  { title: 'DEVICE', text: ({ name }) => visible(name), most: 32, rank: 0 },
  { title: 'WAITS FOR', text: ({ kind }) => WORDS[kind], most: 19, rank: 1 },
  {
    title: 'EXPIRES',
    text: ({ presented }) => (presented ? visible(expiryText(presented.validTo, new Date())) : ''),
    value: ({ presented }) => presented?.validTo ?? '',
    most: 20,
    rank: 2,
  },
  {
    title: 'SUBJECT OR REASON',
    text: ({ presented, reason }) => visible(presented?.subject ?? reason),
    most: 400,
    rank: 3,
    least: 12,
  },
];

const noQuestion: Reason = ({ overlay, fleet }) =>
  overlay.kind === 'questions' && fleet.questions.length === 0 ? 'no question is open' : undefined;

/** An answer is not possible during a run: it would reopen the connection between the plan and its requests. */
const isWritten: Reason = (state) => {
  const name = chosenQuestions(state).find((one) => state.work?.writes.includes(one.name))?.name;
  return name && `a run is writing to ${name}: answer when it has ended`;
};

const cannotMark: Reason = (state) => {
  if (state.overlay.kind !== 'questions') return noRow(state);
  return QUESTIONS.current(state)?.kind === 'changed'
    ? 'a changed certificate cannot be marked: compare it and accept it here'
    : noQuestion(state);
};

const ACCEPT = 'trust the marked certificates, or this one; type logins';
const LISTED = 'accept all whose fingerprints a file lists, also changed ones';
const DECLINE = 'decline the marked ones, or this one';

/** The open questions of devices, with full fingerprints below the list. */
export const QUESTIONS: ListOf<QuestionsOver, DeviceQuestion> = listOf({
  kind: 'questions',
  keys: keysOf('questions', 'In the list of questions', [
    lineKey(['enter'], 'accept-questions', ACCEPT, (state) => questionLine(state, 'accept'), {
      hint: [1, 'accept'],
      command: 'questions accept DEVICE…',
      disabled: firstOf(noQuestion, isWritten),
    }),
    key(['space'], 'mark', 'mark it; a changed certificate is accepted alone', {
      hint: [3, 'mark'],
      disabled: cannotMark,
    }),
    key(['*'], 'mark-all', 'mark all except changed certificates, or none', {
      hint: [3.2, 'all'],
      disabled: (state) => (state.overlay.kind === 'questions' ? noQuestion : noRow)(state),
    }),
    lineKey(['f'], 'accept-listed', LISTED, () => 'questions accept --fingerprints ', {
      hint: [3.3, 'from file'],
      command: 'questions accept --fingerprints FILE',
      disabled: noQuestion,
    }),
    lineKey(['x'], 'decline-questions', DECLINE, (state) => questionLine(state, 'decline'), {
      hint: [3.4, 'decline'],
      command: 'questions decline DEVICE…',
      disabled: noQuestion,
    }),
  ]),
  breadcrumb: () => 'questions',
  resumed: (_overlay, known) => known,
  title: (overlay, { fleet }, found) => {
    const marked = markedOf(fleet, overlay).length;
    return [
      { text: counted(fleet.questions.length, 'question'), rank: 1 },
      found,
      { text: marked === 0 ? '' : `${marked} marked`, rank: 1 },
    ];
  },
  act: (overlay, state, action) =>
    action === 'mark' || action === 'mark-all' ? marked(overlay, state, action) : undefined,
  below: questionFacts,
  opening: (output) =>
    output.kind === 'table' && output.name === 'questions' ? NO_MARKS : undefined,
  nothing: 'no question is open',
  items: (_overlay, { fleet }) => fleet.questions,
  idOf: ({ address }) => address,
  columns: () => COLUMNS,
  signOf: ({ address }, { marks }) => (marks.has(address) ? ' ●' : ''),
  toneOf: ({ kind }) => (kind === 'changed' ? 'bad' : 'plain'),
  empty: () => 'no question is open',
});

/** The list as it opens. */
export const NO_MARKS: QuestionsOver = { kind: 'questions', cursor: 0, marks: new Set() };

function questionFacts(state: State): LogLine[] {
  const current = QUESTIONS.current(state);
  if (current === undefined) return [];
  const { presented, pinned, reason } = current;
  const width = state.size.columns - 2;
  const since =
    pinned && `pinned ${pinned.since.slice(0, 10) || 'inventory '}  ${pinned.fingerprint}`;
  const now = presented ? `presented now      ${presented.fingerprint}` : reason;
  const facts = [since, now].flatMap((text) => {
    return text === undefined ? [] : wrapped({ tone: 'plain', text: visible(text) }, width);
  });
  // Bar, title, header, one row, prompt and footer stay. A fingerprint is never cut; Enter shows it.
  if (facts.length > state.size.rows - 6) return [];
  return facts.map((line) => ({ tone: 'plain', text: textOfLine(line) }));
}

/** Marks or unmarks the current question, or all visible ones, but never a changed certificate. */
function marked(overlay: QuestionsOver, state: State, action: 'mark' | 'mark-all'): State {
  const { rows } = QUESTIONS.list(overlay, state);
  const current = rows[overlay.cursor];
  const addresses = rows
    .filter((question) => question.kind !== 'changed')
    .filter((question) => action === 'mark-all' || question === current)
    .map(({ address }) => address);
  const isMarked = addresses.every((address) => overlay.marks.has(address));
  const others = [...overlay.marks].filter((address) => !addresses.includes(address));
  const marks = new Set(isMarked ? others : [...overlay.marks, ...addresses]);
  const last = Math.max(0, rows.length - 1);
  const cursor = Math.min(overlay.cursor + (action === 'mark' ? 1 : 0), last);
  return { ...state, overlay: { ...overlay, marks, cursor } };
}

function markedOf({ questions }: State['fleet'], { marks }: QuestionsOver): DeviceQuestion[] {
  return questions.filter(({ address, kind }) => kind !== 'changed' && marks.has(address));
}

function chosenQuestions(state: State): readonly DeviceQuestion[] {
  if (state.overlay.kind !== 'questions') return [];
  const marked = markedOf(state.fleet, state.overlay);
  const current = QUESTIONS.current(state);
  return marked.length > 0 || current === undefined ? marked : [current];
}

function questionLine(state: State, verb: 'accept' | 'decline'): string | undefined {
  const chosen = chosenQuestions(state);
  if (chosen.length === 0) return undefined;
  return `questions ${verb} ${chosen.map(({ name }) => quoteWord(name)).join(' ')}`;
}
