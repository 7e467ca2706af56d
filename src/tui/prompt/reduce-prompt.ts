import type { PromptAction } from '../keys/key-binding.ts';
import type { HistorySearch, Menu, PromptState } from './prompt-state.ts';
import { edit, type EditKey, EMPTY_EDITING, type Line, lineText } from '../editor/line.ts';
import { hideSecrets } from '../../shell/grammar/hide-secrets.ts';

/** Applies an editing key at the prompt. The menu stays open, and is filled again for the new line. */
export function editPrompt(prompt: PromptState, key: EditKey): PromptState {
  if (prompt.search !== undefined) return editSearch(prompt, prompt.search, key);
  const accepted = acceptedGhost(prompt, key.kind);
  if (accepted !== '') return editPrompt(prompt, { kind: 'insert', text: accepted });
  // Typing accepts the chosen proposal.
  const isTyping = key.kind === 'insert' && prompt.menu?.chosen !== undefined;
  const base = isTyping
    ? acceptChoice(prompt)
    : isRetyped(prompt, key)
      ? setLine(prompt, '')
      : prompt;
  const before = base.editing.line.before;
  const isSecondBlank = isTyping && key.text === ' ' && before.endsWith(' ');
  const editing = isSecondBlank ? base.editing : edit(base.editing, key);
  const menu = isTyping ? undefined : base.menu;
  return {
    ...base,
    editing,
    menu: menu?.isOffered ? narrowed(menu, editing.line) : menu,
    recall: undefined,
    problem: undefined,
  };
}

/** Whether a letter replaces a line that was refused. A line that only lacks a word is continued. */
function isRetyped({ problem, editing: { line } }: PromptState, key: EditKey): boolean {
  if (problem === undefined || key.kind !== 'insert' || line.after !== '') return false;
  return (problem.column ?? 0) < line.before.trimEnd().length;
}

/** The offered proposals that still fit the typed word, until the next pause; undefined after another word. */
function narrowed(menu: Menu, { before, after }: Line): Menu | undefined {
  const { start, proposals } = menu.completion;
  const word = before.slice(start);
  if (after !== '' || word === '' || /[\s'"]/.test(word)) return undefined;
  const fitting = proposals.filter(({ text }) => text.startsWith(word) && text !== word);
  if (fitting.length === 0) return undefined;
  const letters = Array.from(word, (_, index) => index);
  const completion = {
    ...menu.completion,
    end: before.length,
    proposals: fitting.map((proposal) => ({ ...proposal, letters })),
  };
  return { ...menu, line: before, completion, chosen: undefined };
}

export function setLine(prompt: PromptState, line: Line | string): PromptState {
  return {
    ...prompt,
    editing: edit(prompt.editing, { kind: 'set', line }),
    menu: undefined,
    recall: undefined,
    search: undefined,
    problem: undefined,
  };
}

/** Sets the history, and repeats an open search in it. */
export function setHistory(prompt: PromptState, history: readonly string[]): PromptState {
  const { search } = prompt;
  const known = { ...prompt, history, recall: undefined };
  if (search === undefined) return known;
  return {
    ...known,
    search: { ...search, at: findBack(history, search.query, history.length - 1) },
  };
}

/** The effects of keys at the prompt that do not edit. */
export const PROMPT_ACTIONS: Readonly<Record<PromptAction, (prompt: PromptState) => PromptState>> =
  {
    'history-back': (prompt) => recall(prompt, -1),
    'history-forth': (prompt) => recall(prompt, 1),
    search: searchOlder,
    'search-accept': (prompt) => {
      const found = searchedLine(prompt.history, prompt.search);
      return found === undefined ? { ...prompt, search: undefined } : setLine(prompt, found);
    },
    'search-cancel': (prompt) => ({ ...prompt, search: undefined }),
    'menu-next': (prompt) => {
      const next = { ...prompt, menu: moveChoice(prompt.menu, 1) };
      // The menu behaves as if Tab had opened it.
      const isOnly = isOffering(prompt) && prompt.menu?.completion.proposals.length === 1;
      return isOnly ? acceptChoice(next) : next;
    },
    'menu-back': (prompt) => ({ ...prompt, menu: moveChoice(prompt.menu, -1) }),
    'menu-accept': acceptChoice,
    'menu-close': (prompt) => ({ ...prompt, menu: undefined }),
    'clear-line': (prompt) => {
      const { killed } = prompt.editing;
      return { ...setLine(prompt, ''), editing: { ...EMPTY_EDITING, killed } };
    },
  };

/** Shows the result of completion. A single proposal goes into the line at once. */
export function openMenu(
  prompt: PromptState,
  { line, completion, isOffered }: Omit<Menu, 'chosen'>,
): PromptState {
  // The line has changed during completion.
  if (line !== lineText(prompt.editing.line)) return prompt;
  const { proposals } = completion;
  const [only] = proposals;
  if (only === undefined) return { ...prompt, menu: undefined };
  if (isOffered === true) return withOffer(prompt, { line, completion, isOffered });
  const isOpen = prompt.menu !== undefined && !isOffering(prompt);
  if (proposals.length === 1 && !isOpen) {
    return acceptChoice({ ...prompt, menu: { line, completion, chosen: 0 } });
  }
  return { ...prompt, menu: { line, completion, chosen: undefined }, problem: undefined };
}

/** Shows proposals without Tab. It never accepts one, and hides nothing else. */
function withOffer(prompt: PromptState, offer: Omit<Menu, 'chosen'>): PromptState {
  const { completion, line } = offer;
  const typed = line.slice(completion.start, completion.end);
  const isComplete = completion.proposals.every(({ text }) => text === typed);
  const { search, recall, problem } = prompt;
  const isBusy = (search ?? recall ?? problem) !== undefined;
  if (isBusy || (prompt.menu !== undefined && !isOffering(prompt))) return prompt;
  return { ...prompt, menu: isComplete ? undefined : { ...offer, chosen: undefined } };
}

/** Whether proposals are shown of which the user has chosen none. */
export function isOffering({ menu }: PromptState): boolean {
  return menu?.isOffered === true && menu.chosen === undefined;
}

export function searchedLine(
  history: readonly string[],
  search: HistorySearch | undefined,
): string | undefined {
  return search?.at === undefined ? undefined : history[search.at];
}

function acceptChoice(prompt: PromptState): PromptState {
  const { menu, editing } = prompt;
  const proposal = menu?.chosen === undefined ? undefined : menu.completion.proposals[menu.chosen];
  if (menu === undefined || proposal === undefined) return { ...prompt, menu: undefined };
  const text = lineText(editing.line);
  const { start, end } = menu.completion;
  const rest = text.slice(end);
  const insert = rest.startsWith(' ') ? proposal.insert.trimEnd() : proposal.insert;
  const line = { before: text.slice(0, start) + insert, after: rest };
  return setLine(prompt, line);
}

function moveChoice(menu: Menu | undefined, by: 1 | -1): Menu | undefined {
  if (menu === undefined) return undefined;
  const count = menu.completion.proposals.length;
  const from = menu.chosen ?? (by === 1 ? -1 : 0);
  return { ...menu, chosen: (from + by + count) % count };
}

function recall(prompt: PromptState, by: 1 | -1): PromptState {
  const { history } = prompt;
  const draft = prompt.recall?.draft ?? lineText(prompt.editing.line);
  const at = (prompt.recall?.at ?? history.length) + by;
  if (at < 0 || at > history.length) return prompt;
  const line = history[at] ?? draft;
  return { ...setLine(prompt, line), recall: at === history.length ? undefined : { at, draft } };
}

function editSearch(prompt: PromptState, search: HistorySearch, key: EditKey): PromptState {
  const { line } = edit({ ...EMPTY_EDITING, line: { before: search.query, after: '' } }, key);
  const query = lineText(line);
  const at = findBack(prompt.history, query, prompt.history.length - 1);
  return { ...prompt, search: { query, at } };
}

function searchOlder(prompt: PromptState): PromptState {
  const { search, history } = prompt;
  if (search === undefined) {
    return { ...prompt, search: { query: '', at: undefined }, menu: undefined, problem: undefined };
  }
  const older = findBack(history, search.query, (search.at ?? history.length) - 1, search.at);
  return { ...prompt, search: { ...search, at: older ?? search.at } };
}

/** The newest line from `from` backwards that contains the text and differs from the last match. */
function findBack(
  history: readonly string[],
  query: string,
  from: number,
  before?: number,
): number | undefined {
  if (query === '') return undefined;
  const wanted = query.toLowerCase();
  const known = before === undefined ? undefined : history[before];
  const found = history.findLastIndex(
    (line, at) => at <= from && line !== known && line.toLowerCase().includes(wanted),
  );
  return found === -1 ? undefined : found;
}

/** The rest of the newest history line that begins as typed, and has no secret; '' while the end shows other text. */
export function ghostOf(prompt: PromptState): string {
  const { editing, history, recall, search, menu, problem } = prompt;
  const typed = editing.line.before;
  if (typed.trim() === '' || editing.line.after !== '') return '';
  if (recall !== undefined || search !== undefined) return '';
  if (menu !== undefined && !isOffering(prompt)) return '';
  if (problem !== undefined || typed.includes('\n')) return '';
  const line = history.findLast(
    (one) => one.length > typed.length && one.startsWith(typed) && hideSecrets(one) === one,
  );
  return line?.slice(typed.length) ?? '';
}

/** The part of the ghost that a key to the right accepts, if the cursor is at the end. */
function acceptedGhost(prompt: PromptState, kind: string): string {
  const ghost = ghostOf(prompt);
  if (kind === 'right' || kind === 'end') return ghost;
  return kind === 'word-right' ? (/^\s*\S+/.exec(ghost)?.[0] ?? ghost) : '';
}
