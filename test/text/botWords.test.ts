import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { type BotItem, BotWords } from '../../src/text/botWords.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const text = (words: string, isLast = false): BotItem => ({
  kind: 'text',
  text: words,
  isLast,
  language: undefined,
  interruptible: true,
});

/** The words of a bot, and what is taken of them. */
function botWords(...items: BotItem[]) {
  const clock = createSimulatedClock();
  const words = new BotWords(clock);
  for (const item of items) words.add(item);
  const abort = new AbortController();
  const next = (timeoutMs?: number) => words.next(abort.signal, timeoutMs);
  const all = async () => {
    const taken: string[] = [];
    while (!words.isEmpty) {
      const item = await next();
      taken.push(item?.kind === 'text' ? item.text : `${item?.kind}`);
    }
    return taken;
  };
  return { clock, words, abort, next, all };
}

describe('The words of a bot', () => {
  test('come in order, at once or when the bot sends them', async () => {
    const { abort, clock, words, next } = botWords(text('One '));
    expect(await next()).toMatchObject({ text: 'One ' });
    const waiting = next(1000);
    words.add(text('two.', true));
    expect(await waiting).toMatchObject({ text: 'two.' });
    expect([words.isEmpty, clock.pendingTimers()]).toEqual([true, 0]);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });

  test('are waited for up to a timeout, or the abort', async () => {
    const { clock, abort, next } = botWords();
    const waiting = next(1000);
    clock.advance(1000);
    expect(await waiting).toBeUndefined();
    const aborted = next(1000);
    abort.abort(new Error('the call ended'));
    await expect(aborted).rejects.toThrow('the call ended');
    await expect(next()).rejects.toThrow('the call ended');
    expect(clock.pendingTimers()).toBe(0);
  });

  test('end with a lost bot, each time it is asked', async () => {
    const { next } = botWords({ kind: 'lost', error: new Error('gone') });
    expect([(await next())?.kind, (await next())?.kind]).toEqual(['lost', 'lost']);
  });

  test('of an answer that is interrupted are dropped up to its end, and no others', async () => {
    const { words, next, all } = botWords(text('One '), text('two '), { kind: 'end' }, text('three.', true));
    words.add(text('Next answer.', true));
    words.drop();
    expect(await next()).toMatchObject({ text: 'One ' });
    words.drop();
    expect(await all()).toEqual(['end', 'Next answer.']);
  });

  test('of an answer that is interrupted before its end are dropped when they come', async () => {
    const { words, next, all } = botWords(text('One '), text('two '));
    await next();
    words.drop();
    for (const item of [text('three '), text('four.', true), text('Five.', true)]) words.add(item);
    expect(await all()).toEqual(['Five.']);
  });

  test('that answer the next question are said, also after an answer without an end', async () => {
    const { words, next, all } = botWords(text('One '));
    await next();
    words.drop();
    words.asked();
    words.add(text('Two.', true));
    expect(await all()).toEqual(['Two.']);
  });

  test('that come after the question are dropped with it', async () => {
    const { words, all } = botWords();
    words.asked();
    words.drop();
    words.add(text('Too late.', true));
    expect(await all()).toEqual([]);
  });

  test.each([
    ['half a million characters', () => text('x'.repeat(500_000)), 1],
    ['20,000 items', (): BotItem => ({ kind: 'end' }), 20_000],
  ])('may be %s ahead of what is said', async (_, item, most) => {
    const { words, next } = botWords();
    for (let n = 0; n < most; n++) if (!words.add(item())) expect.unreachable();
    expect(words.add(text('x'))).toBe(false);
    await next();
    await next();
    expect(words.add(text('x'))).toBe(true);
  });

  test('that are dropped no longer count', async () => {
    const { words, next } = botWords(text('One '), text('x'.repeat(400_000), true), text('y'.repeat(99_999)));
    await next();
    words.drop();
    expect(words.add(text('z'.repeat(400_001)))).toBe(true);
    expect(words.add(text('z'))).toBe(false);
  });
});
