import { Text } from 'ink';
import { use } from 'react';
import { LineMarksContext } from '../terminal/line-marks.ts';

/** One line of the screen, cut already; blanks at its end are not sent. An empty one still takes its place. */
export function Row({ children }: { readonly children: string }) {
  const marks = use(LineMarksContext);
  return <Text>{marks.markOf(children.trimEnd())}</Text>;
}
