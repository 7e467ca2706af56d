import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonDocument, reportData } from '../../src/change/report.ts';
import { hasUnsafe } from '../../src/text/visible.ts';
import { exampleReport } from './example-report.ts';
import { hostileTexts } from './hostile.ts';

test('has the urgent devices first, and before, planned and held of each field', () => {
  const { schema, report } = JSON.parse(jsonDocument(reportData(exampleReport()))) as {
    schema: string;
    report: { devices: { device: string; verdict: string; steps: { changes: unknown[] }[] }[] };
  };

  expect(schema).toBe('devsh/1');
  expect(report.devices.map(({ device, verdict }) => `${device} ${verdict}`)).toEqual([
    'fw4 failed',
    'fw3 differs',
    'fw5 skipped',
    'fw1 done',
    'fw2 done',
  ]);
  expect(report.devices[1]?.steps[0]?.changes).toEqual([
    { field: 'lang', before: 'fr', planned: 'de', held: 'it' },
    { field: 'password', planned: '***', held: '***' },
  ]);
});

test('keeps every character of a device, escaped, but no secret', () => {
  fc.assert(
    fc.property(hostileTexts, (texts) => {
      const report = exampleReport(texts);
      const text = jsonDocument(reportData(report));
      const parsed = JSON.parse(text) as { report: unknown };

      expect(parsed.report).toEqual(JSON.parse(JSON.stringify(reportData(report))));
      expect(hasUnsafe(text.replaceAll('\n', ''))).toBe(false);
      expect(text).not.toContain('S3cret');
    }),
  );
});
