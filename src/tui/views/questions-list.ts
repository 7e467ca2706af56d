import { expiryText } from '../../shell/access/certificates.ts';
import type { DeviceQuestion } from '../../shell/access/open-questions.ts';
import { quoteWord } from '../../text/words.ts';
import { visible } from '../../text/visible.ts';
import { memoized } from '../screen/memoized.ts';
import { wrapText } from '../screen/wrap.ts';
import type { LogLine, Overlay, State } from '../state.ts';
import { arranged, type ListSource } from './arrange.ts';
import { fieldOf, listLines, recordBy, type ListColumn, type ListView } from './list-view.ts';

type QuestionsOverlay = Extract<Overlay, { kind: 'questions' }>;
type Marks = QuestionsOverlay['marks'];

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

/** They come with the doubtful ones first. */
export function questionSource({ fleet }: Pick<State, 'fleet'>): ListSource<DeviceQuestion> {
  return {
    items: fleet.questions,
    idOf: ({ address }) => address,
    fields: COLUMNS.map(fieldOf),
    recordOf: recordBy(COLUMNS),
  };
}

const linesOf = memoized((questions: readonly DeviceQuestion[], marks: Marks, width: number) => {
  const mark: ListColumn<DeviceQuestion> = {
    title: ' ',
    text: ({ address }) => (marks.has(address) ? '●' : ' '),
    most: 1,
    rank: 0,
  };
  return listLines(questions, [mark, ...COLUMNS], width);
});

/** What devices wait for; the fingerprints stand whole below the list. */
export function questionList(
  questions: readonly DeviceQuestion[],
  { cursor, marks }: QuestionsOverlay,
  width: number,
): ListView {
  const { header, lines } = linesOf(questions, marks, width);
  return {
    header,
    count: lines.length,
    row: (index) => ({
      text: lines[index] ?? '',
      tone: questions[index]?.kind === 'changed' ? 'bad' : 'plain',
    }),
    cursor,
    empty: 'nothing waits for an answer',
  };
}

/** The question under the cursor in full; as many lines for each, so that the list stands still. */
export function questionFacts(state: State): LogLine[] {
  const { questions } = state.fleet;
  const width = state.size.columns - 2;
  const factsOf = ({ presented, pinned, reason }: DeviceQuestion): LogLine[] => {
    const said =
      presented === undefined
        ? [reason]
        : [
            ...(pinned ? [`pinned ${pinned.since.slice(0, 10)}  ${pinned.fingerprint}`] : []),
            `presents SHA-256    ${presented.fingerprint}`,
          ];
    return said.flatMap((text) =>
      wrapText(visible(text), width, '  ').map((line): LogLine => ({ tone: 'plain', text: line })),
    );
  };
  const current = currentQuestion(state);
  if (current === undefined) return [];
  // Changed ones come first, and have the most to say.
  const most = questions.find(({ presented }) => presented !== undefined);
  const height = most === undefined ? 1 : factsOf(most).length;
  const facts = factsOf(current).slice(0, height);
  const blank: LogLine = { tone: 'plain', text: '' };
  return [...facts, ...Array.from({ length: height - facts.length }, () => blank)];
}

/** The questions in sight. */
function shown(state: State): readonly DeviceQuestion[] {
  return arranged(questionSource(state), state.find);
}

export function currentQuestion(state: State): DeviceQuestion | undefined {
  return state.overlay.kind === 'questions' ? shown(state)[state.overlay.cursor] : undefined;
}

/** Marks or unmarks the question under the cursor, or all in sight: never a changed certificate. */
export function markedQuestions(state: State, action: 'mark' | 'mark-all'): State {
  const { overlay } = state;
  if (overlay.kind !== 'questions') return state;
  const current = currentQuestion(state);
  const addresses = shown(state)
    .filter((question) => question.kind !== 'changed')
    .filter((question) => action === 'mark-all' || question === current)
    .map(({ address }) => address);
  const isMarked = addresses.every((address) => overlay.marks.has(address));
  const others = [...overlay.marks].filter((address) => !addresses.includes(address));
  const marks = new Set(isMarked ? others : [...overlay.marks, ...addresses]);
  const last = Math.max(0, shown(state).length - 1);
  const cursor = Math.min(overlay.cursor + (action === 'mark' ? 1 : 0), last);
  return { ...state, overlay: { ...overlay, marks, cursor } };
}

/** Those that are marked and still wait. */
export function markedOf({ fleet }: State, { marks }: QuestionsOverlay): DeviceQuestion[] {
  return fleet.questions.filter(({ address, kind }) => kind !== 'changed' && marks.has(address));
}

/** The marked questions, or the one under the cursor. */
export function chosenQuestions(state: State): readonly DeviceQuestion[] {
  if (state.overlay.kind !== 'questions') return [];
  const marked = markedOf(state, state.overlay);
  const current = currentQuestion(state);
  return marked.length > 0 || current === undefined ? marked : [current];
}

/** A line about them. */
export function questionLine(state: State, verb: 'accept' | 'decline'): string | undefined {
  const chosen = chosenQuestions(state);
  if (chosen.length === 0) return undefined;
  return `questions ${verb} ${chosen.map(({ name }) => quoteWord(name)).join(' ')}`;
}
