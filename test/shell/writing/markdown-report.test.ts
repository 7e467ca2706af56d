import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markdownReport } from '../../../src/shell/writing/markdown-report.ts';
import { visibleLines } from '../../../src/text/visible.ts';
import { exampleReport } from '../../change/example-report.ts';
import { hostileTexts } from '../../change/hostile.ts';

test('has the head, all devices, and equal outcomes once', () => {
  expect(markdownReport(exampleReport())).toMatchInlineSnapshot(`
    "# devsh run 20261121-093041-k3qd7m

    **2 done · 1 differs · 1 failed · 1 skipped** on 5 devices

    not reached: fw4

    Pending: fw4, fw5

    | What | Value |
    | --- | --- |
    | Command | user set carol lang=de password=… |
    | By | lea&#64;desk |
    | Began | 2026-11-21T09:30:41.000Z |
    | Ended | 2026-11-21T09:30:43.500Z |
    | State | stopped: one device differs |
    | devsh | 1.0.0 |

    ## Devices

    | Device | Address | Verdict | Steps |
    | --- | --- | --- | --- |
    | fw4 | 10.0.0.4:443 | failed | could not be read |
    | fw3 | 10.0.0.3:443 | differs | 1 differs |
    | fw5 | 10.0.0.5:443 | skipped | 1 skipped |
    | fw1 | 10.0.0.1:443 | done | 1 done |
    | fw2 | 10.0.0.2:443 | done | 1 done |

    ## fw4: failed

    ### set user carol: failed

    Remark: fw4: no answer within 5 s (changed without a request: lang)

    ## fw3: differs

    ### set user carol: differs

    Remark: changed without a request: lang

    | Field | Before | Planned | Stored afterwards |
    | --- | --- | --- | --- |
    | lang | fr | de | it |
    | password | – | &#42;&#42;&#42; | &#42;&#42;&#42; |

    ## fw5: skipped

    ### set user carol: skipped

    Remark: not sent

    | Field | Before | Planned | Stored afterwards |
    | --- | --- | --- | --- |
    | lang | fr | de | – |
    | password | – | &#42;&#42;&#42; | – |

    ## fw1, fw2 (2 devices): done

    ### set user carol: done

    | Field | Before | Planned | Stored afterwards |
    | --- | --- | --- | --- |
    | lang | fr | de | de |
    | password | – | &#42;&#42;&#42; | &#42;&#42;&#42; |
    "
  `);
});

test('keeps the text of a device from being Markdown, HTML or a link', () => {
  const report = exampleReport({
    key: 'a|b',
    value: '<img src=x>`[x](https://y)',
    field: 'first_name',
  });
  const text = markdownReport(report);

  expect(text).toContain('user a&#124;b: done');
  expect(text).toContain(
    '| first_name | fr | &#60;img src=x&#62;&#96;&#91;x&#93;(https&#58;//y) |',
  );
});

test('no foreign text breaks a table, adds a line or reaches a terminal unescaped', () => {
  const lineKinds = (text: string): string[] =>
    text.split('\n').map((line) => {
      if (line.startsWith('|')) return `table of ${line.split('|').length - 2}`;
      return line.replace(/^(#+|Remark:|\*\*.*|).*$/s, '$1');
    });
  const plain = lineKinds(markdownReport(exampleReport()));

  fc.assert(
    fc.property(hostileTexts, (texts) => {
      const text = markdownReport(exampleReport(texts));

      expect(lineKinds(text)).toEqual(plain);
      expect(visibleLines(text)).toBe(text);
      expect(text).not.toMatch(/[<>`\\]|S3cret/);
    }),
  );
});
