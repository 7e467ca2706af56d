import { formView } from '../form/form-view.ts';
import type { FormState } from '../form/form-state.ts';
import type { Theme } from '../screen/theme.ts';
import { Row } from './row.tsx';

interface FormProps {
  readonly form: FormState;
  readonly theme: Theme;
  readonly columns: number;
  readonly height: number;
}

/** One row for each field in sight; always as high as it was told. */
export function Form({ form, theme, columns, height }: FormProps) {
  return formView(form, columns, height).rows.map((spans, index) => (
    <Row key={index}>{spans.map(({ tone, text }) => theme(tone, text)).join('')}</Row>
  ));
}
