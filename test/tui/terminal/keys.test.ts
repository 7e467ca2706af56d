import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test, onTestFinished } from 'vitest';
import {
  type KeyEvent,
  keyLabel,
  KeyReader,
  type KeyReaderOptions,
} from '../../../src/tui/terminal/keys.ts';
import { countComputing } from '../../contention.ts';

/** A reader on a stream that takes chunks at once, and what it read. */
function startReader(options: KeyReaderOptions = {}) {
  const stdin = new PassThrough();
  const events: KeyEvent[] = [];
  const waiting: (() => void)[] = [];
  const reader = new KeyReader(
    stdin,
    (event) => {
      events.push(event);
      waiting.splice(0).forEach((resolve) => {
        resolve();
      });
    },
    { escapeTimeoutMs: 20, ...options },
  );
  reader.start();
  onTestFinished(() => {
    reader.stop();
  });
  return {
    reader,
    events,
    feed: (...chunks: (string | Buffer)[]) => {
      for (const chunk of chunks) stdin.emit('data', Buffer.from(chunk));
    },
    labels: () => events.map((event) => (event.kind === 'key' ? keyLabel(event) : event)),
    next: () => new Promise<void>((resolve) => waiting.push(resolve)),
  };
}

function labelsOf(...chunks: (string | Buffer)[]): unknown[] {
  const { feed, labels } = startReader();
  feed(...chunks);
  return labels();
}

test('the background colour that the terminal reports is no key, in 7 and 8 bits and in pieces', () => {
  const colors: string[] = [];
  const { feed, labels } = startReader({ onBackground: (color) => colors.push(color) });
  feed('a\x1b]11;rgb:ffff/ffff/f', 'fff\x1b', '\\b', '\x1b]11;rgb:00/00/00\x07c');
  feed(Buffer.from([0x9d]), '11;rgba:0/0/0/0', Buffer.from([0x9c]), 'd');
  feed('\x1b]11;rgb:0/0/0 and more\x07', '\x1b]10;rgb:1/1/1\x07', 'e');
  expect(labels()).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(colors).toEqual(['rgb:ffff/ffff/ffff', 'rgb:00/00/00', 'rgba:0/0/0/0']);
});

describe('typed characters', () => {
  test('a line and its Enter in one chunk are six keys', () => {
    expect(labelsOf('users\r')).toEqual(['u', 's', 'e', 'r', 's', 'enter']);
  });

  test('Ctrl-C at the end of a chunk is not lost', () => {
    expect(labelsOf('abc\x03')).toEqual(['a', 'b', 'c', 'ctrl-c']);
  });

  test('a character that is cut between chunks is one key', () => {
    const { feed, events } = startReader();
    const bytes = Buffer.from('ü表😀');
    for (const byte of bytes) feed(Buffer.from([byte]));
    expect(events.map((event) => event.text)).toEqual(['ü', '表', '😀']);
  });

  test('an upper-case letter is typed as it is and has Shift', () => {
    const { feed, events } = startReader();
    feed('G');
    expect(events).toEqual([
      { kind: 'key', name: 'g', ctrl: false, meta: false, shift: true, text: 'G' },
    ]);
  });

  test('C1 control characters type nothing', () => {
    expect(labelsOf('a\x84b\x85')).toEqual(['a', 'b']);
  });

  test.each([
    '\x1b[<0;12;3M',
    '\x1b[<64;12;3M',
    '\x1b[<0;0;1M',
    '\x1b[<0;1;0M',
    '\x1b[<0;1;1m',
    '\x1b[<2;1;1M',
    '\x1b[<32;1;1M',
    '\x1b[<0;1M',
    '\x1b[<0;1;1;1M',
    '\x1b[<0;-1;1M',
    '\x1b[<0;99999;1M',
    '\x1b[<99999999999;1;1M',
    '\x1b[<;;M',
    '\x1b[M !!',
    '\x1b[0;1;1M',
  ])('a report of the mouse is dropped, complete or not: %j', (report) => {
    const { feed, labels } = startReader();
    feed(`a${report}b`);
    expect(labels()).toEqual(['a', 'b']);
  });

  test.each([
    ['the device attributes', '?62;4c'],
    ['the place of the cursor', '12;40R'],
    ['a focus report', 'I'],
  ])('no answer of a terminal in 8 bits is typed: %s', (_, answer) => {
    expect(labelsOf(`\x9b${answer}.`)).toEqual(['.']);
    expect(labelsOf(Buffer.from(`\x9b${answer}.`, 'latin1'))).toEqual(['.']);
  });

  test.each([
    ['OSC', '\x9d11;rgb:0000/0000/0000\x9c'],
    ['OSC up to BEL', '\x9d11;rgb:0000/0000/0000\x07'],
    ['DCS', '\x90>|XTerm(388)\x9c'],
    ['APC', '\x9fGi=1;OK\x9c'],
  ])('nor is one that is a text: %s', (_, answer) => {
    expect(labelsOf(Buffer.from(`x${answer}.`, 'latin1'))).toEqual(['x', '.']);
  });

  test('keys in 8 bits are keys, next to characters with the same bytes', () => {
    const up = Buffer.from('\x9bA', 'latin1');
    // U+06DB and U+1F6DB have a byte 0x9b.
    const { feed, events } = startReader();
    feed(Buffer.concat([Buffer.from('ۛ'), up, Buffer.from('🛛'), up]));
    expect(events.map((event) => event.text || (event.kind === 'key' && event.name))).toEqual([
      'ۛ',
      'up',
      '🛛',
      'up',
    ]);
  });
});

describe('named keys', () => {
  test.each([
    ['\x7f', 'backspace'],
    ['\b', 'backspace'],
    ['\x1b[3~', 'delete'],
    ['\x1b[A', 'up'],
    ['\x1bOA', 'up'],
    ['\x1b[1;5C', 'ctrl-right'],
    ['\x1b[1;3D', 'alt-left'],
    ['\x1b[Z', 'shift-tab'],
    ['\x1b[H', 'home'],
    ['\x1b[4~', 'end'],
    ['\x1b[5~', 'pageup'],
    ['\x1b[6~', 'pagedown'],
    ['\x1bOP', 'f1'],
    ['\x1b[[A', 'f1'],
    ['\x1b[15~', 'f5'],
    ['\x1b[24~', 'f12'],
    ['\x1b[3$', 'shift-delete'],
    ['\x1bb', 'alt-b'],
    ['\x1b\x7f', 'alt-backspace'],
    ['\x1b\r', 'alt-enter'],
    ['\x1f', 'ctrl-_'],
    ['\x00', 'ctrl-space'],
    ['\t', 'tab'],
    [' ', 'space'],
    ['\x1b[97;5u', 'ctrl-a'],
    ['\x1b[27;5;13~', 'ctrl-enter'],
    ['\x1b[27u', 'escape'],
  ])('%j is %s', (bytes, name) => {
    expect(labelsOf(bytes)).toEqual([name]);
    expect(labelsOf(...Array.from(bytes))).toEqual([name]);
  });

  test('ESC alone is the Escape key once nothing follows', async () => {
    const { feed, labels, next } = startReader();
    feed('\x1b');
    expect(labels()).toEqual([]);
    await next();
    expect(labels()).toEqual(['escape']);
  });

  test('ESC with the rest of its sequence in time is one key', () => {
    expect(labelsOf('\x1b', '[', '1;', '5D')).toEqual(['ctrl-left']);
  });

  test('Escape and an arrow in one chunk are two keys', () => {
    expect(labelsOf('\x1b\x1b[A')).toEqual(['escape', 'up']);
  });

  test('an incomplete sequence is dropped, and typing continues', async () => {
    const { feed, labels, next } = startReader();
    feed('\x1b[');
    await next();
    feed('a');
    expect(labels()).toEqual(['alt-[', 'a']);
  });
});

describe('what is no key', () => {
  test.each([
    ['a mouse report', '\x1b[<35;12;7M'],
    ['an old mouse report', '\x1b[M !!'],
    ['a focus report', '\x1b[I'],
    ['a focus report on leaving', '\x1b[O'],
    ['a colour from OSC 11', '\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\'],
    ['an OSC that ends in BEL', '\x1b]52;c;cm0gLXJmIC8=\x07'],
    ['a device attributes answer', '\x1b[?62;22c'],
    ['a second device attributes answer', '\x1b[>41;354;0c'],
    ['a cursor position', '\x1b[24;80R'],
    ['a mode report', '\x1b[?2026;2$y'],
    ['a terminfo answer', '\x1bP1+r544e=787465726d\x1b\\'],
    ['an application command', '\x1b_Gi=1;OK\x1b\\'],
    ['a window report', '\x1b[8;24;80t'],
    ['an unknown key', '\x1b[1;10A'],
  ])('%s is dropped', (_, bytes) => {
    expect(labelsOf(`a${bytes}b`)).toEqual(['a', 'b']);
    expect(labelsOf('a', ...Array.from(bytes), 'b')).toEqual(['a', 'b']);
  });
});

describe('a paste', () => {
  test('is one event, its line ends normalized, nothing in it a key', () => {
    expect(labelsOf('x\x1b[200~one\r\ntwo\rthree\x03\x1b[A\x1b[201~y')).toEqual([
      'x',
      { kind: 'paste', text: 'one\ntwo\nthree\x03\x1b[A' },
      'y',
    ]);
  });

  test('may be cut anywhere, also inside its marks', () => {
    expect(labelsOf(...Array.from('\x1b[200~a\x1b[20b\x1b[201~c'))).toEqual([
      { kind: 'paste', text: 'a\x1b[20b' },
      'c',
    ]);
  });

  test('ends in as many bits as it began: no 8-bit control inside of it ends it', () => {
    expect(labelsOf('\x1b[200~a\x9b201~q\x1b[201~b')).toEqual([
      { kind: 'paste', text: 'a\x9b201~q' },
      'b',
    ]);
    expect(labelsOf(Buffer.from('\x9b200~a\x1b[201~q\x9b201~b', 'latin1'))).toEqual([
      { kind: 'paste', text: 'a\x1b[201~q' },
      'b',
    ]);
  });

  test('of 100 KB in small chunks is one event, and quick', () => {
    const text = 'set user=bob lang=de ü\n'.repeat(4500);
    const { feed, events } = startReader();
    const bytes = Buffer.from(`\x1b[200~${text}\x1b[201~`);
    const computedMs = countComputing();
    for (let at = 0; at < bytes.length; at += 1000) feed(bytes.subarray(at, at + 1000));
    expect(events).toEqual([{ kind: 'paste', text }]);
    expect(computedMs()).toBeLessThan(500);
  });

  test('whose end never comes is taken as it is, and keys are keys again', async () => {
    const { feed, labels, next } = startReader({ pasteTimeoutMs: 20 });
    feed('\x1b[200~half');
    await next();
    feed('q');
    expect(labels()).toEqual([{ kind: 'paste', text: 'half' }, 'q']);
  });

  test('without end comes in pieces, none of them keys', () => {
    const { feed, events } = startReader();
    feed('\x1b[200~');
    for (let count = 0; count < 10; count++) feed('x'.repeat(1024 * 1024));
    expect(events.length).toBeGreaterThan(0);
    expect(events.every((event) => event.kind === 'paste')).toBe(true);
  });
});

describe('the reader', () => {
  test('gives the same keys wherever the input is cut', () => {
    const piece = fc.constantFrom(
      ...['a', 'ü', '表', '😀', '\r', '\x03', '\x1b[A', '\x1bOP', '\x1b[1;5D', '\x1b[<0;1;1M'],
      ...['\x1b]0;t\x07', '\x1bx', '\x1b[200~p\ra\x1b[201~', '\x1b[3~', '\x1b[?1;2c'],
      ...['\x9bA', '\x9b?1;2c', '\x9d0;t\x9c', '\x9b200~p\x9b201~'],
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 20 }),
        fc.array(fc.nat(200), { maxLength: 10 }),
        (pieces, cuts) => {
          // A last character, so that nothing is left waiting for a timeout.
          const bytes = Buffer.from(pieces.join('') + '.');
          const borders = [0, ...cuts.filter((cut) => cut < bytes.length), bytes.length];
          borders.sort((a, b) => a - b);
          const chunks = borders.map((border, index) => bytes.subarray(borders[index - 1], border));
          expect(labelsOf(...chunks.slice(1))).toEqual(labelsOf(bytes));
        },
      ),
    );
  });

  test('survives any bytes: the next key is read', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), async (bytes) => {
        const { feed, reader, labels } = startReader();
        feed(Buffer.from(bytes));
        reader.stop();
        reader.start();
        feed('z');
        await Promise.resolve();
        expect(labels().at(-1)).toBe('z');
      }),
    );
  });

  test('is silent once stopped, also for the rest of the chunk', () => {
    const stdin = new PassThrough();
    const events: KeyEvent[] = [];
    const reader = new KeyReader(stdin, (event) => {
      events.push(event);
      reader.stop();
    });
    reader.start();
    stdin.emit('data', 'qrm -rf\r');
    expect(events).toHaveLength(1);
    expect(stdin.listenerCount('data')).toBe(0);
  });
});

test('ESC and a character tell what they are without Alt, a sequence for Alt does not', () => {
  const { events, feed } = startReader();
  feed('\x1bQ', '\x1b[113;3u');
  const q = { kind: 'key', name: 'q', ctrl: false };
  expect(events).toEqual([
    {
      ...q,
      meta: true,
      shift: true,
      text: '',
      afterEscape: { ...q, meta: false, shift: true, text: 'Q' },
    },
    { ...q, meta: true, shift: false, text: '' },
  ]);
});
