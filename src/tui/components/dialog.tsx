import { Box } from 'ink';
import { type ReactNode, use } from 'react';
import { cut, widthOf } from '../../text/visible.ts';
import type { FormView } from '../form/form-view.ts';
import type { QuestionBox } from '../screen/layout.ts';
import { plainLine, type TextLine, textOfLine, widthOfSpans } from '../screen/theme.ts';
import { planTextLines } from '../views/plan-lines.ts';
import { Line, ThemeContext } from './line.tsx';

interface DialogProps {
  readonly title: TextLine;
  /** A text in the lower edge. */
  readonly foot: TextLine;
  readonly width: number;
  readonly padding?: number;
  readonly children: ReactNode;
}

/** A box over the table, with a title in its edge. */
export function Dialog({ title, foot, width, padding = 0, children }: DialogProps) {
  const edges = useEdges();
  return (
    <Box flexDirection="column" flexShrink={0} width={width}>
      <Edge corners="┌┐" text={title} width={width} />
      <Box
        flexDirection="column"
        paddingX={padding}
        borderStyle={edges}
        borderTop={false}
        borderBottom={false}
      >
        {children}
      </Box>
      <Edge corners="└┘" text={foot} width={width} />
    </Box>
  );
}

export function useEdges() {
  const theme = use(ThemeContext);
  const [left, right] = [theme('quiet', '│'), theme('quiet', '│')];
  return { ...NO_CORNERS, left, right };
}

/** Ink requires a text for each edge. */
const NO_CORNERS = {
  topLeft: '',
  top: '',
  topRight: '',
  bottomLeft: '',
  bottom: '',
  bottomRight: '',
};

interface EdgeProps {
  readonly corners: string;
  readonly text: TextLine;
  readonly width: number;
}

function Edge({ corners, text, width }: EdgeProps) {
  const shown: TextLine = text.length === 0 ? [] : [...text, { tone: 'plain', text: ' ' }];
  const rest = '─'.repeat(Math.max(0, width - 2 - widthOfSpans(shown)));
  return (
    <Line
      spans={[
        { tone: 'quiet', text: corners.slice(0, 1) },
        ...shown,
        { tone: 'quiet', text: rest + corners.slice(1) },
      ]}
    />
  );
}

interface QuestionProps {
  readonly box: QuestionBox;
  readonly columns: number;
}

/** A question below its subject: a plan, a certificate, or an output. */
export function Question({ box, columns }: QuestionProps) {
  const { title, tone, asked, scroll, hasEdges } = box;
  const shown = (
    <>
      <PlanTable box={box} />
      {asked.map((line, index) => (
        <Line key={index} spans={line} />
      ))}
    </>
  );
  if (!hasEdges)
    return (
      <Box flexDirection="column" flexShrink={0} paddingLeft={1}>
        {shown}
      </Box>
    );
  const widest = Math.max(...[...seenLines(box), ...asked].map(widthOfSpans));
  const width = Math.min(columns, Math.max(widest, widthOf(title), widthOf(scroll), 36) + 4);
  const foot = scroll === '' ? [] : plainLine(` ${scroll}`, 'quiet');
  const head = plainLine(` ${cut(title, width - 4)}`, tone);
  return (
    <Dialog title={head} foot={foot} width={width} padding={1}>
      {shown}
    </Dialog>
  );
}

const seenLines = ({ texts, width, top, height }: QuestionBox): readonly TextLine[] =>
  planTextLines(texts, width).slice(top, top + height);

/** The visible lines of a plan: steps in columns, and texts below them. The match of a search is highlighted. */
export function PlanTable({ box }: { readonly box: QuestionBox }) {
  return seenLines(box).map((line, index) => {
    const isFound = box.top + index === box.foundAt;
    return <Line key={index} spans={isFound ? plainLine(textOfLine(line), 'accent') : line} />;
  });
}

/** A form: the fields of a record, and in the lower edge the line that it runs. */
export function Form({ view }: { readonly view: FormView }) {
  const { rows, width } = view;
  const [title = [], ...others] = rows;
  const foot = others.pop() ?? [];
  return (
    <Dialog title={title} foot={foot} width={width}>
      {others.map((spans, index) => (
        <Field key={index} spans={spans} />
      ))}
    </Dialog>
  );
}

/** A field with its label, its value and its message, or a line of the choices that are open below it. */
export function Field({ spans }: { readonly spans: TextLine }) {
  return <Line spans={spans} />;
}
