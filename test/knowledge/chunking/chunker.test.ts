import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { Chunker, type TextChunk } from '../../../src/knowledge/chunking/chunker.ts';
import type { Block } from '../../../src/knowledge/parse/block.ts';
import { cleanText } from '../../../src/knowledge/parse/clean.ts';

const paragraph = (text: string): Block => ({ kind: 'paragraph', text });
const heading = (text: string): Block => ({ kind: 'heading', text });
const row = (text: string): Block => ({ kind: 'row', text });

function chunksOf(blocks: readonly Block[], size: number, overlap = 0): TextChunk[] {
  const chunker = new Chunker({ size, overlap });
  return [...blocks.flatMap((block) => chunker.push(block)), ...chunker.end()];
}
const contents = (chunks: readonly TextChunk[]) => chunks.map(({ content }) => content);

/** The document's cleaned text, to which offsets refer. */
function textOf(blocks: readonly Block[]): string {
  let text = '';
  let last: Block['kind'] | undefined;
  for (const { kind, text: raw } of blocks) {
    const cleaned = cleanText(raw);
    if (cleaned === '') continue;
    if (last !== undefined) text += kind === 'row' && last === 'row' ? '\n' : '\n\n';
    text += cleaned;
    last = kind;
  }
  return text;
}

describe('Sentences', () => {
  test.each<[string, string, number, string[]]>([
    ['fit together', 'One is. Two are. Three be.', 50, ['One is. Two are. Three be.']],
    ['are not split', 'One is here. Two are there.', 20, ['One is here.', 'Two are there.']],
    [
      'of Chinese',
      '今天天氣很好。我們去公園散步。晚上回家吃飯。',
      15,
      ['今天天氣很好。我們去公園散步。', '晚上回家吃飯。'],
    ],
    ['of Japanese', '今日は晴れです。散歩に行きましょう。', 12, ['今日は晴れです。', '散歩に行きましょう。']],
    [
      'too long are split between words',
      'alpha beta gamma delta epsilon',
      12,
      ['alpha beta', 'gamma delta', 'epsilon'],
    ],
    [
      'of Thai, without spaces, between words',
      'ภาษาไทยเป็นภาษาที่สวยงาม',
      12,
      ['ภาษาไทยเป็น', 'ภาษาที่', 'สวยงาม'],
    ],
    [
      'of Chinese without marks, between words',
      '我們明天一起去台北看電影',
      6,
      ['我們明天', '一起去台北', '看電影'],
    ],
    ['without words, between characters', 'aaaaaaaaaaaa', 5, ['aaaaa', 'aaaaa', 'aa']],
    ['of emoji, never within one', '👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 15, ['👨‍👩‍👧‍👦', '👨‍👩‍👧‍👦']],
    ['of flags', '🇹🇼🇯🇵🇹🇭', 9, ['🇹🇼🇯🇵', '🇹🇭']],
  ])('%s', (_, text, size, expected) => {
    expect(contents(chunksOf([paragraph(text)], size))).toEqual(expected);
  });

  test('A grapheme longer than a chunk is split', () => {
    const chunks = chunksOf([paragraph(`e${'\u0316'.repeat(120)}`)], 50);
    expect(chunks.map(({ content }) => content.length)).toEqual([50, 50, 21]);
  });
});

describe('Structure', () => {
  test('Many short paragraphs share a chunk', () => {
    const chunks = chunksOf(
      Array.from({ length: 10_000 }, (_, index) => paragraph(`No. ${index}`)),
      500,
    );
    expect(chunks.length).toBeLessThan(300);
    expect(chunks.every(({ content }) => content.length <= 500)).toBe(true);
  });

  test('A heading starts a chunk and never ends one', () => {
    const blocks = [
      heading('Warranty'),
      paragraph('It lasts three years.'),
      heading('Refunds'),
      paragraph('They are paid in ten days.'),
    ];
    expect(contents(chunksOf(blocks, 60, 20))).toEqual([
      'Warranty\n\nIt lasts three years.',
      'Refunds\n\nThey are paid in ten days.',
    ]);
  });

  test('A heading after a short text stays in its chunk', () => {
    const blocks = [paragraph('Hello.'), heading('Refunds'), paragraph('They are paid in ten days.')];
    expect(contents(chunksOf(blocks, 60))).toEqual(['Hello.\n\nRefunds\n\nThey are paid in ten days.']);
  });

  test('A heading that does not fit beside its text is a chunk', () => {
    const blocks = [heading('A heading of a length'), paragraph('A sentence of some length too.')];
    expect(contents(chunksOf(blocks, 32))).toEqual([
      'A heading of a length',
      'A sentence of some length too.',
    ]);
  });

  test('Table rows are separated by one line end', () => {
    expect(contents(chunksOf([row('a: 1'), row('a: 2')], 50))).toEqual(['a: 1\na: 2']);
  });
});

describe('Overlap', () => {
  test('consists of whole sentences where they fit', () => {
    expect(
      contents(chunksOf([paragraph('One is here. Two is there. Three is gone. Four.')], 30, 16)),
    ).toEqual(['One is here. Two is there.', 'Two is there. Three is gone.', 'Three is gone. Four.']);
  });

  test('starts with a word where a sentence does not fit', () => {
    const [first, second] = contents(
      chunksOf([paragraph('The quick brown fox jumps over the dog. It sleeps.')], 42, 10),
    );
    expect(first).toBe('The quick brown fox jumps over the dog.');
    expect(second).toBe('the dog. It sleeps.');
  });

  test('holds in a text without sentence marks, from the start of a word', () => {
    const text = 'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu';
    expect(contents(chunksOf([paragraph(text)], 24, 8))).toEqual([
      'alpha beta gamma',
      'gamma delta epsilon',
      'epsilon zeta eta theta',
      'theta iota kappa',
      'kappa lambda mu',
    ]);
  });

  test('holds in Chinese without sentence marks', () => {
    const chunks = chunksOf([paragraph('我們明天一起去台北看電影'.repeat(10))], 50, 10);
    const overlaps = chunks
      .slice(1)
      .map(({ startOffset }, index) => (chunks[index]?.endOffset ?? 0) - startOffset);
    expect(chunks.length).toBeGreaterThan(2);
    expect(Math.min(...overlaps)).toBeGreaterThan(5);
  });

  test('takes at most half of a chunk in a text without sentence marks', () => {
    const chunks = chunksOf([paragraph('word '.repeat(1000))], 100, 99);
    expect(chunks.length).toBeLessThan(110);
  });

  test('is left out before a sentence that needs the room', () => {
    const sentence = `${'x'.repeat(19)}.`;
    expect(contents(chunksOf([paragraph(`Aa bb. ${sentence} ${sentence}`)], 20, 10))).toEqual([
      'Aa bb.',
      sentence,
      sentence,
    ]);
  });
});

test.each([
  ['one letter', 'a'],
  ['line ends', '\n'],
  ['brackets', '['],
  ['short sentences', 'a. '],
  ['combining marks', '\u0316'],
])('A million characters of %s are split in linear time', (_, text) => {
  const startedMs = process.cpuUsage().user / 1_000;
  chunksOf([paragraph(text.repeat(1_000_000 / text.length))], 500, 50);
  expect(process.cpuUsage().user / 1_000 - startedMs).toBeLessThan(6_000);
});

test('A block without letters, numbers or symbols is left out', () => {
  expect(contents(chunksOf([paragraph('[[[ --- ...'), paragraph('5'), paragraph('😀')], 50))).toEqual([
    '5\n\n😀',
  ]);
});

test('Chunks match their offsets, keep the size and overlap limits, and lose no text', () => {
  const words = fc.constantFrom(
    'one',
    'two.',
    '三四',
    '五。',
    'ภาษาไทย',
    '👩‍🚀',
    'x'.repeat(70),
    '\n',
    '\t',
    'é',
    'か\u3099',
  );
  const block = fc.record({
    kind: fc.constantFrom('heading' as const, 'paragraph' as const, 'row' as const),
    text: fc.array(words, { maxLength: 30 }).map((parts) => parts.join(' ')),
  });
  fc.assert(
    fc.property(
      fc.array(block, { maxLength: 12 }),
      fc.integer({ min: 50, max: 120 }),
      fc.integer({ min: 0, max: 49 }),
      (blocks, size, overlap) => {
        const text = textOf(blocks);
        const chunks = chunksOf(blocks, size, overlap);
        let covered = 0;
        for (const [index, { content, startOffset, endOffset, position }] of chunks.entries()) {
          expect(position).toBe(index);
          expect(text.slice(startOffset, endOffset)).toBe(content);
          expect(content.length).toBeLessThanOrEqual(size);
          expect(content).toBe(content.trim());
          expect(content.isWellFormed()).toBe(true);
          expect(text.slice(covered, startOffset).trim()).toBe('');
          if (index > 0) expect(covered - startOffset).toBeLessThanOrEqual(overlap);
          expect(endOffset).toBeGreaterThan(covered);
          covered = endOffset;
        }
        expect(text.slice(covered).trim()).toBe('');
      },
    ),
    { numRuns: 300 },
  );
});
