import { visibleLines } from '../visible.ts';
import { csvText } from './csv.ts';
import { gathering } from './quick-writer.ts';
import { remarkWriter } from './remark-text.ts';
import type { Streams, Writer } from './streams.ts';

/** CSV has no place for failures, so they are remarked as beside a table. */
export function csvWriter(streams: Streams): Writer {
  const remarks = remarkWriter(streams);
  const data = gathering((outputs) => {
    const text = csvText(outputs);
    streams.out(streams.isTty ? visibleLines(text) : text);
  });
  return {
    write(output) {
      remarks.write(output);
      data.write(output);
    },
    end(error) {
      remarks.clear();
      data.end();
      remarks.end(error);
    },
  };
}
