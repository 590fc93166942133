import { describe, expect, test } from 'vitest';
import {
  closeUtterance,
  detectSpeech,
  isSpeechOnset,
  NO_SPEECH,
} from '../../src/voice/recognition/speechActivity.ts';
import { fallbackPhrasesOf } from '../../src/voice/speech/fallbackPhrases.ts';
import { createHeardText } from '../../src/voice/speech/heardText.ts';
import { createSpeechCache } from '../../src/voice/speech/speechCache.ts';
import { isBackchannel } from '../../src/voice/turnDetection/backchannel.ts';
import { enterDigit, INTER_DIGIT_MS, waitForDigits } from '../../src/voice/turnDetection/dtmfEntry.ts';
import {
  completenessOf,
  endpointingDelayMs,
  learnPause,
  learnTooSoon,
  NO_HABITS,
} from '../../src/voice/turnDetection/endpointing.ts';
import { DEFAULT_TURN_POLICY, turnPolicyOf } from '../../src/voice/turnDetection/turnPolicy.ts';
import { turnLatency } from '../../src/voice/turns/turnLatency.ts';

describe('activity', () => {
  const hear = (frames: string) =>
    [...frames].reduce(
      (activity, frame, index) => detectSpeech(activity, frame === '#', (index + 1) * 20),
      NO_SPEECH,
    );

  test.each([
    ['a click', '..#....', undefined],
    ['two voiced frames of five', '..#.#..', undefined],
    ['three of five', '..#.##', { startMs: 40, voicedMs: 60, lastVoicedMs: 120 }],
    ['a word', '.#####.', { startMs: 20, voicedMs: 100, lastVoicedMs: 120 }],
    ['a gap within a word', '.###..##.', { startMs: 20, voicedMs: 100, lastVoicedMs: 160 }],
    ['a click after a word', '.####......#...', { startMs: 20, voicedMs: 80, lastVoicedMs: 100 }],
    ['two words', '.####......###.', { startMs: 20, voicedMs: 140, lastVoicedMs: 280 }],
  ])('%s', (_, frames, utterance) => expect(hear(frames).utterance).toEqual(utterance));

  test.each([
    ['silence', '.####......', false],
    ['the first frame of what may be speech', '.####......#', true],
    ['the last moment in which it may be', '.####......#..', true],
    ['a click', '.####......#...', false],
    ['speech', '.####......###', false],
  ])('%s after a word: whether somebody may be going on', (_, frames, expected) =>
    expect(isSpeechOnset(hear(frames))).toBe(expected),
  );

  test('what was dealt with is forgotten, and speech that goes on begins anew', () => {
    const closed = closeUtterance(hear('.#####'));
    expect(closed.utterance).toBeUndefined();
    const next = [140, 160, 180].reduce((activity, atMs) => detectSpeech(activity, true, atMs), closed);
    expect(next.utterance).toEqual({ startMs: 120, voicedMs: 60, lastVoicedMs: 180 });
  });
});

describe('the end of a turn', () => {
  test.each([
    ['I would like a table.', 'finished'],
    ['我想訂位。', 'finished'],
    ['What time?”', 'finished'],
    ['', 'open'],
    ['I would like to', 'unfinished'],
    ['I would like to.', 'unfinished'],
    ['well, um', 'unfinished'],
    ['on Monday,', 'unfinished'],
    ['so I thought...', 'unfinished'],
    ['我想要訂位但是', 'unfinished'],
    ['pero', 'unfinished'],
    ['my number is five five', 'unfinished'],
    ['5 5', 'unfinished'],
    ['It is 555-12.', 'unfinished'],
    ['my name is a d', 'unfinished'],
    ['五五', 'open'],
    ['我的電話是 零九 一二', 'unfinished'],
    ['five', 'open'],
    ['at 12', 'open'],
    ['for two', 'open'],
    ['zero nine one two three four five six seven eight', 'open'],
    ['it is 0912 345 678', 'open'],
  ])('%j looks %s', (text, completeness) => expect(completenessOf(text)).toBe(completeness));

  test('comes sooner the more finished the words look, within the bounds', () => {
    const pause = (text: string | undefined) =>
      endpointingDelayMs(text, ['no thank you'], NO_HABITS, DEFAULT_TURN_POLICY);
    expect([
      pause('No, thank you!'),
      pause('A table.'),
      pause('a table'),
      pause(undefined),
      pause('a table for'),
    ]).toEqual([300, 430, 755, 755, 1340]);
  });

  test('adapts to a caller who pauses, and never leaves the bounds', () => {
    const habits = [800, 900, 1000].reduce(learnPause, NO_HABITS);
    const bounds = { minPauseMs: 300, maxPauseMs: 1600 };
    expect(endpointingDelayMs('A table.', [], habits, bounds)).toBe(1130);
    expect(endpointingDelayMs('A table.', [], { pauseMs: 5000 }, bounds)).toBe(1600);
    expect(endpointingDelayMs('yes', ['yes'], { pauseMs: 5000 }, bounds)).toBe(300);
  });

  test('adapts at once to a caller who was answered in the middle, and not to one who was just not', () => {
    const bounds = { minPauseMs: 300, maxPauseMs: 1600 };
    const usual = learnPause(NO_HABITS, 600);
    expect(endpointingDelayMs('five', [], usual, bounds)).toBe(755);
    expect(endpointingDelayMs('five', [], learnTooSoon(usual, 1200), bounds)).toBe(1500);
    expect(endpointingDelayMs('five', [], learnTooSoon({ pauseMs: 1000 }, 400), bounds)).toBe(1250);
  });
});

describe('acknowledgements', () => {
  test.each([
    ['mm-hm', 400, 'en', true],
    ['Okay, right.', 600, 'en', true],
    ['uh huh', 500, 'en', true],
    ['對', 300, 'zh-TW', true],
    ['嗯嗯', 400, 'zh-TW', true],
    ['ok', 300, 'zh-TW', true],
    ['對', 300, 'en', false],
    ['sí, claro', 500, 'es', true],
    ['okay', 2000, 'en', false],
    ['yes but no', 600, 'en', false],
    ['stop', 300, 'en', false],
    ['okay okay okay okay', 900, 'en', false],
    ['', 300, 'en', false],
  ])('%j of %i ms in %s: %s', (text, voicedMs, language, expected) => {
    expect(isBackchannel(text, voicedMs, language)).toBe(expected);
  });
});

describe('keys', () => {
  const press = (keys: string, ways: readonly string[] = []) =>
    [...keys].reduce(
      (step: ReturnType<typeof enterDigit>, digit, index) => enterDigit(step.state, digit, index * 100, ways),
      { state: undefined },
    );

  test.each([
    ['1', ['1', '2'], '1'],
    ['1', ['1', '12'], undefined],
    ['12', ['1', '12'], '12'],
    ['123#', [], '123'],
    ['#', [], '#'],
    ['#', ['#1'], undefined],
    ['*', ['1'], undefined],
    ['1'.repeat(32), [], '1'.repeat(32)],
  ])('%s with the ways on %j means %s', (keys, ways, complete) =>
    expect(press(keys, ways).complete).toBe(complete),
  );

  test('are complete once the caller is done', () => {
    const { state } = press('47');
    expect(waitForDigits(state, 100 + INTER_DIGIT_MS - 1)).toEqual({ state });
    expect(waitForDigits(state, 100 + INTER_DIGIT_MS)).toEqual({ state: undefined, complete: '47' });
    expect(waitForDigits(undefined, 99_999)).toEqual({ state: undefined });
  });
});

describe('what was heard', () => {
  const speech = (ms: number) => new Int16Array(8 * ms).fill(5000);
  const quiet = (ms: number) => new Int16Array(8 * ms);

  test('is told in whole words, by time, without the quiet around them', () => {
    const spoken = createHeardText(8000);
    spoken.begin('One two three four. ');
    for (const samples of [quiet(200), speech(1000), quiet(300)]) spoken.append(samples);
    spoken.end(true);
    spoken.begin('Five six.');
    spoken.append(speech(500));
    spoken.end(true);
    const heard = (ms: number) => spoken.heardAt(8 * ms);
    expect([0, 200, 400, 700, 1100, 1200, 1500, 1999, 2000].map(heard)).toEqual([
      '',
      '',
      'One',
      'One two',
      'One two three',
      'One two three four.',
      'One two three four.',
      'One two three four. Five',
      'One two three four. Five six.',
    ]);
  });

  test('of Chinese is told in characters, and of speech still being made by the usual pace', () => {
    const spoken = createHeardText(8000);
    spoken.begin('請問需要什麼服務');
    spoken.append(speech(800));
    expect(spoken.heardAt(8 * 800)).toBe('請問需要');
    spoken.end(true);
    expect(spoken.heardAt(8 * 800)).toBe('請問需要什麼服務');
  });

  test('a piece that was never spoken was not heard', () => {
    const spoken = createHeardText(8000);
    spoken.begin('Nobody said this. ');
    spoken.end(false);
    spoken.begin('But this.');
    spoken.append(speech(500));
    spoken.end(true);
    expect(spoken.heardAt(4000)).toBe('But this.');
  });
});

describe('latency', () => {
  const moments = { lastVoicedMs: 1000, endedStreamMs: 1500, endedAtMs: 70_000 };

  test('has parts that add up to what the stream shows', () => {
    const latency = turnLatency({
      ...moments,
      wordsAtMs: 70_040,
      firstTextAtMs: 70_240,
      firstSpeechAtMs: 70_300,
      soundedStreamMs: 1840,
      bufferDelayMs: 59.6,
    });
    expect(latency).toEqual({
      latencyMs: 900,
      latencyParts: {
        bufferMs: 60,
        endpointingMs: 500,
        transcriptionMs: 40,
        answerMs: 200,
        speechMs: 60,
        playoutMs: 40,
      },
    });
  });

  test('words that were known before the end cost nothing, and clocks that disagree do not make it more', () => {
    const latency = turnLatency({
      ...moments,
      wordsAtMs: 69_900,
      firstTextAtMs: 72_000,
      soundedStreamMs: 1700,
    });
    expect(latency).toEqual({
      latencyMs: 700,
      latencyParts: {
        bufferMs: 0,
        endpointingMs: 500,
        transcriptionMs: 0,
        answerMs: 200,
        speechMs: 0,
        playoutMs: 0,
      },
    });
  });

  test('is none where nothing sounded', () => expect(turnLatency(moments)).toBeUndefined());
});

test('the cache keeps what is used, within its bytes', () => {
  const cache = createSpeechCache(1000);
  const samples = () => new Int16Array(50);
  for (const key of 'abcdefghij') cache.set(key, samples());
  expect(cache.get('a')).toBeDefined();
  cache.set('k', samples());
  expect([cache.get('a'), cache.get('b'), cache.sizeBytes]).toEqual([expect.anything(), undefined, 1000]);
  cache.set('large', new Int16Array(51));
  cache.set('k', samples());
  expect([cache.get('large'), cache.sizeBytes]).toEqual([undefined, 1000]);
});

test('a node’s settings stand beside the defaults', () => {
  const node = {
    id: 'n',
    type: 'start',
    position: { x: 0, y: 0 },
    data: {
      title: 'N',
      prompt: '',
      tools: [],
      interruption: 'off',
      turn: { maxPauseMs: 200 },
      silence: { hangupAfter: 0 },
    },
  } as const;
  expect(turnPolicyOf({ ...node, data: { ...node.data, tools: [] } })).toEqual({
    ...DEFAULT_TURN_POLICY,
    interruptible: false,
    minPauseMs: 200,
    maxPauseMs: 200,
    hangupAfter: 0,
  });
  expect(turnPolicyOf(undefined)).toBe(DEFAULT_TURN_POLICY);
});

test('phrases are in the language of the talk, or in English', () => {
  expect(fallbackPhrasesOf('zh-TW').moment).toBe('請稍等一下。');
  expect(fallbackPhrasesOf('fi').moment).toBe('One moment, please.');
});
