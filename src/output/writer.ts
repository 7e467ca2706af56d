import type { Format } from '../shell/options.ts';
import { visibleLines } from '../visible.ts';
import { csvText } from './csv.ts';
import { documentOf } from './document.ts';
import { gathering, isQuick, quickWriter, silenceable } from './quick-writer.ts';
import { remarkWriter, type RemarkWriter } from './remark-text.ts';
import type { Streams, Writer } from './streams.ts';
import { toYaml } from './yaml.ts';

/** As `quickWriter`, for every format. */
export function createWriter(format: Format, streams: Streams): Writer {
  if (isQuick(format)) return quickWriter(format, streams);
  const remarks = remarkWriter(streams);
  if (format === 'csv') return csvWriter(streams, remarks);
  return silenceable(
    gathering((outputs, error) => {
      streams.out(toYaml(documentOf(outputs, error)));
    }),
    remarks,
  );
}

/** CSV has no place for failures, so they are remarked as beside a table. */
function csvWriter(streams: Streams, remarks: RemarkWriter): Writer {
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
