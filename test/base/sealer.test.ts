import { describe, expect, test } from 'vitest';

import { createSealer } from '../../src/base/sealer.ts';

const [OLD, NEW, OTHER] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];

describe('a sealer', () => {
  test('open returns the secret; each sealed text is different', () => {
    const sealer = createSealer(NEW);
    const [one, two] = [sealer.seal('geheim 秘密'), sealer.seal('geheim 秘密')];
    expect(one).not.toBe(two);
    expect([one, two].map(sealer.open)).toEqual(['geheim 秘密', 'geheim 秘密']);
  });

  test('open accepts texts of previous keys; seal uses the current key only', () => {
    const sealed = createSealer(OLD).seal('secret');
    const sealer = createSealer(NEW, [OTHER, OLD]);
    expect(sealer.open(sealed)).toBe('secret');
    expect(createSealer(NEW).open(sealer.seal('secret'))).toBe('secret');
    expect(() => createSealer(OLD).open(sealer.seal('secret'))).toThrow();
    expect([OLD, NEW].map((key) => sealer.knows(createSealer(key).fingerprint))).toEqual([true, true]);
    expect(createSealer(NEW).knows(createSealer(OLD).fingerprint)).toBe(false);
  });

  test.each([
    ['sealed with an unknown key', () => createSealer(OLD).seal('secret')],
    ['changed', () => `${createSealer(NEW).seal('secret').slice(0, -2)}AA`],
    ['cut', () => createSealer(NEW).seal('secret').slice(0, 20)],
    ['not a sealed text', () => 'plain'],
  ])('open throws for a text that is %s', (_what, text) => {
    expect(() => createSealer(NEW, [OTHER]).open(text())).toThrow();
  });
});
