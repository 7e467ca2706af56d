import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { junitReport } from '../../../src/change/report/junit.ts';
import { visibleLines } from '../../../src/text/visible.ts';
import { exampleReport } from './example.ts';
import { hostileTexts } from './hostile.ts';

const hasPython = spawnSync('python3', ['-c', 'import xml.etree.ElementTree']).status === 0;

/** Reads documents from a JSON list, and prints the elements of each: tag and attributes. */
const READ_XML = `
import json, sys, xml.etree.ElementTree as tree
documents = json.load(sys.stdin)
json.dump([[[e.tag, e.attrib] for e in tree.fromstring(d.encode()).iter()] for d in documents], sys.stdout)
`;

type Element = readonly [tag: string, attributes: Readonly<Record<string, string>>];

function parsed(documents: readonly string[]): Element[][] {
  const { stdout, stderr, status } = spawnSync('python3', ['-c', READ_XML], {
    input: JSON.stringify(documents),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as Element[][];
}

test('has a case for each step, the device as its class, and an element for its verdict', () => {
  expect(junitReport(exampleReport())).toMatchInlineSnapshot(`
    "<?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="devsh run 20261121-093041-k3qd7m" tests="5" failures="1" errors="1" skipped="1">
      <testsuite name="devsh run 20261121-093041-k3qd7m" tests="5" failures="1" errors="1" skipped="1" timestamp="2026-11-21T09:30:41.000Z" time="2.500">
        <properties>
          <property name="command" value="user set carol lang=de password=…"/>
          <property name="by" value="lea@desk"/>
          <property name="state" value="stopped: one device differs"/>
          <property name="owed" value="fw4"/>
          <property name="version" value="1.0.0"/>
        </properties>
        <testcase classname="fw4" name="set user carol">
          <error type="failed" message="fw4: no answer within 5 s (changed without a request: lang)"></error>
        </testcase>
        <testcase classname="fw3" name="set user carol">
          <failure type="differs" message="changed without a request: lang">lang: before fr, planned de, stored it
    password: before –, planned ***, stored ***</failure>
        </testcase>
        <testcase classname="fw5" name="set user carol">
          <skipped message="not reached">lang: before fr, planned de, stored –
    password: before –, planned ***, stored –</skipped>
        </testcase>
        <testcase classname="fw1" name="set user carol">
          <system-out>lang: before fr, planned de, stored de
    password: before –, planned ***, stored ***</system-out>
        </testcase>
        <testcase classname="fw2" name="set user carol">
          <system-out>lang: before fr, planned de, stored de
    password: before –, planned ***, stored ***</system-out>
        </testcase>
      </testsuite>
    </testsuites>
    "
  `);
});

test('makes characters visible that XML forbids or a terminal obeys', () => {
  fc.assert(
    fc.property(hostileTexts, (texts) => {
      const xml = junitReport(exampleReport(texts));

      // XML 1.0, section 2.2: Char.
      expect(xml).toMatch(/^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u);
      expect(visibleLines(xml)).toBe(xml);
      expect(xml).not.toContain('S3cret');
    }),
  );
});

describe.skipIf(!hasPython)(`an XML parser${hasPython ? '' : ' (skipped: no python3)'}`, () => {
  test('finds the same elements, whatever the texts', () => {
    const samples = fc.sample(hostileTexts, 200);
    const tags = (elements: readonly Element[]): string[] => elements.map(([tag]) => tag);
    const [plain = [], ...others] = parsed(
      [{}, ...samples].map((texts) => junitReport(exampleReport(texts))),
    );

    expect(plain.find(([tag]) => tag === 'testsuite')?.[1]).toMatchObject({
      ...{ tests: '5', failures: '1', errors: '1', skipped: '1' },
      ...{ timestamp: '2026-11-21T09:30:41.000Z', time: '2.500' },
    });
    expect(others).toHaveLength(samples.length);
    for (const elements of others) expect(tags(elements)).toEqual(tags(plain));
  });

  test('returns a text with markup unchanged', () => {
    const key = `a<b>"c" & 'd' ]]> é`;
    const [elements = []] = parsed([junitReport(exampleReport({ key }))]);
    const names = elements.filter(([tag]) => tag === 'testcase').map(([, { name }]) => name);

    expect(new Set(names)).toEqual(new Set([`set user ${key}`]));
  });
});
