import type { LogLine } from '../state.ts';
import { Line, plainLine } from './line.tsx';

/** A rule, the plan, and the question itself. */
export function Question({ lines }: { readonly lines: readonly LogLine[] }) {
  return lines.map(({ tone, text }, index) => (
    <Line key={index} spans={plainLine(text.startsWith('──') ? text : ` ${text}`, tone)} />
  ));
}
