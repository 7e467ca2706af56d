import { expect, test } from 'vitest';
import { markdownLines } from '../../src/output/text-writer.ts';
import { createStyle } from '../../src/output/streams.ts';

const REPORT = `# devsh run 20261121-093041-k3qd7m

**1 done · 1 failed** on 2 devices

| What | Value |
| --- | --- |
| Command | user set bob lang=de note=&#42;&#42;a &#124; b&#42;&#42; |
| By | admin |

## Devices

| Device | Address | Verdict | Steps |
| --- | --- | --- | --- |
| fw1 | 10.0.0.5:443 | done | 1 done |
| fw2 | 10.0.0.6:443 | failed | 1 failed |

## fw1: done

### set user bob: done

| Field | Before | Planned | Stored afterwards |
| --- | --- | --- | --- |
| lang | en | de | de |
`;

const plain = createStyle(false);

test('a report on a terminal has headings and aligned tables, and no signs of Markdown', () => {
  expect(markdownLines(REPORT, 80, plain).join('\n')).toMatchInlineSnapshot(`
    "devsh run 20261121-093041-k3qd7m
    ────────────────────────────────

    1 done · 1 failed on 2 devices

    Command  user set bob lang=de note=**a | b**
    By       admin

    Devices
    ───────

    DEVICE  ADDRESS       VERDICT  STEPS
    fw1     10.0.0.5:443  done     1 done
    fw2     10.0.0.6:443  failed   1 failed

    fw1: done
    ─────────

    set user bob: done

    FIELD  BEFORE  PLANNED  STORED AFTERWARDS
    lang   en      de       de"
  `);
});

test('a name and what it is are never cut, a table of several columns is', () => {
  const lines = markdownLines(REPORT, 30, plain);
  expect(lines).toContain('Command  user set bob lang=de note=**a | b**');
  expect(lines.filter((line) => line.startsWith('fw')).every((line) => line.length <= 30)).toBe(
    true,
  );
});

test('headings are bold where there is colour', () => {
  expect(markdownLines('## fw1: done', 80, createStyle(true))).toEqual([
    '\x1b[1mfw1: done\x1b[22m',
    '─────────',
  ]);
});
