import { describe, expect, test } from 'vitest';
import { WrittenText } from '../../../src/conversation/speech/writtenText.ts';
import { StreamedText } from '../../../src/voice/speech/streamedText.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { type SpokenRequest, scriptedSynthesizer } from '../support/scriptedSynthesizer.ts';

const SAMPLE_RATE_HZ = 8000;
/** At the usual pace of 15 characters a second. */
const THREE_SECONDS = 'Every word of it is as long as the others are';
const LONG = 'word '.repeat(400);

/** One text at a vendor that speaks when the test says so, heard by a caller who is behind by `aheadMs`. */
function streamedText(words: string, isComplete = true) {
  const clock = createSimulatedClock();
  const synthesizer = scriptedSynthesizer();
  synthesizer.isManual = true;
  const written = new WrittenText(words, isComplete);
  const heard = { aheadMs: 0 };
  const sink = { onSamples: () => undefined, onWords: () => undefined, aheadMs: () => heard.aheadMs };
  const text = new StreamedText({ textToSpeech: synthesizer, clock }, SAMPLE_RATE_HZ, written, {}, sink);
  const abort = new AbortController();
  let outcome: unknown = 'runs';
  const connection = synthesizer.connect({});
  void text.run(connection, abort.signal).then(
    (failure) => {
      outcome = failure instanceof Error ? failure.message : failure;
    },
    (reason: unknown) => {
      outcome = reason;
    },
  );
  const request = synthesizer.requests[0] as SpokenRequest;
  const sound = (ms: number, level = 900) =>
    request.emit({ type: 'samples', samples: new Int16Array((SAMPLE_RATE_HZ * ms) / 1000).fill(level) });
  const outcomeAfter = async (ms = 0) => {
    clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
    return outcome;
  };
  return { clock, written, heard, text, abort, request, sound, outcomeAfter };
}

describe('A text at a vendor', () => {
  test('is asked for eight seconds ahead, and more of it as it is heard', async () => {
    const { clock, heard, request, sound } = streamedText(LONG);
    const askedMs = () => (request.text.length * 1000) / 15;
    const isAbout = (ms: number) => {
      expect(askedMs()).toBeGreaterThan(ms);
      expect(askedMs()).toBeLessThan(ms + 3000);
    };
    isAbout(8000);
    clock.advance(1000);
    isAbout(8000);
    heard.aheadMs = 4000;
    sound(4000);
    clock.advance(200);
    isAbout(8000);
    heard.aheadMs = 2000;
    clock.advance(200);
    isAbout(10_000);
  });

  test('is asked for when the vendor is quiet with less than two seconds left', async () => {
    const { clock, heard, request, sound } = streamedText(LONG);
    const before = request.text.length;
    sound(1000);
    heard.aheadMs = 2000;
    clock.advance(1000);
    expect(request.text.length).toBe(before);
    heard.aheadMs = 1900;
    clock.advance(200);
    expect(request.text.length).toBeGreaterThan(before);
  });

  test('is no longer asked for while words still sound', () => {
    const { clock, heard, request, sound } = streamedText(LONG);
    const before = request.text.length;
    heard.aheadMs = 1900;
    for (let n = 0; n < 5; n++) {
      sound(20);
      clock.advance(400);
    }
    expect(request.text.length).toBe(before);
  });

  test.each([
    ['has sounded', undefined, 0],
    ['sounded for a second', 1000, 'Every word of '.length],
    ['sounded for long enough', 3000, THREE_SECONDS.length],
    ['sounded longer', 4000, THREE_SECONDS.length],
  ])('without word times, of which nothing more %s, is spoken as far', (_, ms, characters) => {
    const { text, sound } = streamedText(THREE_SECONDS);
    sound(ms ?? 1000, ms === undefined ? 0 : 900);
    expect(text.spokenCharacters).toBe(characters);
  });

  test('with word times is spoken up to the last word whose sound came', () => {
    const { text, request, sound } = streamedText('One two - three four.');
    const words = ['One', 'two', 'three', 'four'].map((word, at) => ({
      word,
      startMs: at * 200,
      endMs: at * 200 + 200,
    }));
    request.emit({ type: 'words', words });
    sound(400);
    expect(text.spokenCharacters).toBe('One two - '.length);
    sound(400);
    expect(text.spokenCharacters).toBe('One two - three four.'.length);
  });
});

describe('A vendor', () => {
  test.each([
    ['Hello there', 'runs'],
    ['Hello there. ', 'scripted did not start in time'],
    ['word '.repeat(15), 'runs'],
    ['word '.repeat(17), 'scripted did not start in time'],
    ['… ', 'runs'],
  ])('that has been given %j and makes no sound for 1.5 s: %s', async (words, outcome) => {
    const { outcomeAfter } = streamedText(words, false);
    expect(await outcomeAfter(1499)).toBe('runs');
    expect(await outcomeAfter(1)).toBe(outcome);
  });

  test('that has the whole text and falls silent for 1.5 s has failed', async () => {
    const { request, sound, outcomeAfter } = streamedText('Hello there.');
    expect(request.isEnded).toBe(true);
    await outcomeAfter(1400);
    sound(100);
    expect(await outcomeAfter(1499)).toBe('runs');
    expect(await outcomeAfter(1)).toBe('scripted stopped in the middle of a text');
  });

  test('may be silent between the words that it was given', async () => {
    const { sound, outcomeAfter } = streamedText('Hello there. ', false);
    sound(100);
    expect(await outcomeAfter(60_000)).toBe('runs');
  });

  test('is held back sixteen seconds ahead, until eight are left, and has then 1.5 s', async () => {
    const { heard, request, sound, outcomeAfter } = streamedText('A text that takes long to be said, or so.');
    heard.aheadMs = 15_999;
    sound(100);
    expect(request.isPaused).toBe(false);
    heard.aheadMs = 16_000;
    sound(100);
    expect(request.isPaused).toBe(true);
    heard.aheadMs = 8000;
    expect(await outcomeAfter(10_000)).toBe('runs');
    expect(request.isPaused).toBe(true);
    heard.aheadMs = 7999;
    expect(await outcomeAfter(200)).toBe('runs');
    expect(request.isPaused).toBe(false);
    expect(await outcomeAfter(1500)).toBe('scripted stopped in the middle of a text');
  });

  test('that speaks more than a second per character, and ten more, sends noise', async () => {
    const { sound, outcomeAfter } = streamedText('Hi.');
    sound(13_000);
    expect(await outcomeAfter()).toBe('runs');
    sound(1);
    expect(await outcomeAfter()).toBe('scripted does not end');
  });

  test.each([
    [0, 'scripted returned silence'],
    [900, undefined],
  ])('whose sound has level %i ends with %s, and nothing is waited for', async (level, outcome) => {
    const { clock, request, sound, outcomeAfter } = streamedText('Hello.');
    sound(100, level);
    request.emit({ type: 'done' });
    expect(await outcomeAfter()).toBe(outcome);
    expect([clock.pendingTimers(), request.isCancelled]).toEqual([0, true]);
  });

  test('gets nothing of a text without words', async () => {
    const { request, outcomeAfter } = streamedText('…');
    expect([await outcomeAfter(), request.isEnded]).toEqual([undefined, false]);
  });

  test('gets no more once the text is stopped', async () => {
    const { clock, written, abort, request, outcomeAfter } = streamedText('Hello ', false);
    abort.abort('stopped');
    expect(await outcomeAfter()).toBe('stopped');
    written.write('there. ');
    expect([request.text, request.isCancelled, clock.pendingTimers()]).toEqual(['Hello ', true, 0]);
  });
});
