import { Box, Text } from 'ink';
import { useSyncExternalStore } from 'react';
import { formBox } from '../form/form-view.ts';
import { isTooSmall, layoutOf, SMALLEST } from '../screen/layout.ts';
import type { Theme } from '../screen/theme.ts';
import type { State } from '../state.ts';
import type { Store } from '../store.ts';
import { listView } from '../views/views.ts';
import { Footer, Messages, StatusBar, Title } from './bars.tsx';
import { Form, Question } from './dialog.tsx';
import { KeysContext, ThemeContext } from './line.tsx';
import { DriftGrid } from './drift-grid.tsx';
import { List, TextView } from './list.tsx';
import { RollOutGrid } from './roll-out-grid.tsx';
import { TimeLine } from './time-line.tsx';
import { DRIFT } from '../views/drift.ts';
import { TIME_LINE } from '../views/time-line.ts';
import { Prompt } from './prompt.tsx';
import { RecordTable } from './record-table.tsx';

interface AppProps {
  readonly store: Store;
  readonly themeOf: (name: State['theme']) => Theme;
}

/** The whole screen, drawn from the state at every change. */
export function App({ store, themeOf }: AppProps) {
  const state = useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot);
  if (isTooSmall(state)) return <TooSmall size={state.size} />;
  const { body: free, messages, question, under } = layoutOf(state);
  const form = formBox(state);
  const body = free - (form?.rows.length ?? 0);
  const isAbove = state.focus === 'table' && state.questions.length === 0;
  return (
    <ThemeContext value={themeOf(state.theme)}>
      <KeysContext value={isAbove ? 'above' : 'prompt'}>
        <StatusBar state={state} />
        <Title state={state} />
        {body > 0 && (
          <Box flexDirection="column" height={body} flexShrink={0}>
            <Body state={state} height={body} />
          </Box>
        )}
        {form && <Form view={form} />}
        <Messages lines={messages} />
        {question && <Question box={question} columns={state.size.columns} />}
        <Prompt state={state} under={under} />
        <Footer state={state} />
      </KeysContext>
    </ThemeContext>
  );
}

function Body({ state, height }: { readonly state: State; readonly height: number }) {
  const { overlay, size } = state;
  const place = { width: size.columns, height };
  const list = listView(state);
  if (overlay.kind === 'none') return <RecordTable state={state} height={height} />;
  if (overlay.kind === 'drift')
    return <DriftGrid over={overlay} list={DRIFT.list(overlay, state)} {...place} />;
  if (overlay.kind === 'time-line')
    return <TimeLine list={TIME_LINE.list(overlay, state)} {...place} />;
  if (overlay.kind === 'roll-out')
    return state.rollOut && <RollOutGrid rollOut={state.rollOut} {...place} />;
  if (list !== undefined) return <List list={list} {...place} />;
  return <TextView state={state} height={height} />;
}

function TooSmall({ size }: { readonly size: State['size'] }) {
  return (
    <Box height={size.rows} alignItems="center" justifyContent="center">
      <Text wrap="truncate">{`devsh needs ${SMALLEST.columns}x${SMALLEST.rows}`}</Text>
    </Box>
  );
}
