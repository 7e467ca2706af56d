import { use } from 'react';
import type { FormState } from '../form/form-state.ts';
import { formView } from '../form/form-view.ts';
import type { State } from '../state.ts';
import { KeysContext, Line } from './line.tsx';

interface FormProps {
  readonly form: FormState;
  readonly state: State;
  readonly height: number;
}

/** One record, field by field. */
export function Form({ form, state, height }: FormProps) {
  const hasKeys = use(KeysContext) === 'above';
  return formView(form, state.size.columns, height).rows.map((spans, index) => (
    <Line
      key={index}
      spans={spans.map(({ tone, text }) => ({
        tone: hasKeys || tone !== 'accent' ? tone : 'plain',
        text,
      }))}
    />
  ));
}
