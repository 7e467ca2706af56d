import { Box } from 'ink';
import { useSyncExternalStore } from 'react';
import { isTooSmall, layoutOf, SMALLEST } from '../screen/layout.ts';
import type { Store } from '../store.ts';
import type { Theme } from '../screen/theme.ts';
import type { State } from '../state.ts';
import { Body } from './body.tsx';
import { Footer, Header, Messages, QuestionLines, Row } from './bars.tsx';
import { Prompt } from './prompt.tsx';

interface AppProps {
  readonly store: Store;
  readonly themeOf: (name: State['theme']) => Theme;
}

/** The whole screen, drawn anew from the state whenever that changes. */
export function App({ store, themeOf }: AppProps) {
  const state = useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot);
  return <Screen state={state} theme={themeOf(state.theme)} />;
}

function Screen({ state, theme }: { readonly state: State; readonly theme: Theme }) {
  const { columns, rows } = state.size;
  if (isTooSmall(state)) {
    const text = `terminal too small (${columns}x${rows}): needs ${SMALLEST.columns}x${SMALLEST.rows}`;
    const indent = ' '.repeat(Math.max(0, Math.floor((columns - text.length) / 2)));
    return (
      <Box flexDirection="column" paddingTop={Math.max(0, Math.floor((rows - 1) / 2))}>
        <Row>{indent + text}</Row>
      </Box>
    );
  }
  const layout = layoutOf(state);
  return (
    <Box flexDirection="column">
      <Header state={state} theme={theme} />
      <Body state={state} theme={theme} height={layout.body} />
      <Messages lines={layout.messages} theme={theme} />
      <QuestionLines lines={layout.question} theme={theme} />
      <Prompt state={state} theme={theme} under={layout.under} />
      <Footer state={state} theme={theme} />
    </Box>
  );
}
