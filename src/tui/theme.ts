/** What may be stressed. Colours add to signs and words, and never stand alone. */
export type Tone =
  | 'heading'
  | 'good'
  | 'bad'
  | 'warning'
  | 'quiet'
  | 'plain'
  | 'current'
  | 'chosen'
  | 'accent'
  | 'match'
  | 'current-match'
  | 'changed';

/** Text in a tone, ready for the screen. Only the 16 colours of every terminal are used. */
export type Theme = (tone: Tone, text: string) => string;

/** With its `0`: Ink does not take the short form for the end of a colour. */
const RESET = '\x1b[0m';

/** Bold, dim and reverse are no colours: they stay where colours are not wanted. */
const PLAIN: Readonly<Record<Tone, string>> = {
  heading: '1',
  good: '',
  bad: '1',
  warning: '1',
  quiet: '',
  plain: '',
  current: '7',
  chosen: '7',
  accent: '1',
  match: '1;4',
  'current-match': '7;1;4',
  changed: '1;7',
};

const COLORED: Readonly<Record<Tone, string>> = {
  ...PLAIN,
  good: '32',
  bad: '31',
  warning: '33',
  quiet: '2',
  accent: '36;1',
};

export function createTheme(hasColor: boolean): Theme {
  const codes = hasColor ? COLORED : PLAIN;
  return (tone, text) => {
    const code = codes[tone];
    return code === '' || text === '' ? text : `\x1b[${code}m${text}${RESET}`;
  };
}
