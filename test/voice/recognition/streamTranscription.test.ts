import { describe, expect, test } from 'vitest';
import type { Utterance } from '../../../src/conversation/turnDetection/speechActivity.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import type { Transcript } from '../../../src/models/ports/speechToText.ts';
import { StreamTranscription } from '../../../src/voice/recognition/streamTranscription.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { scriptedRecognizer } from '../support/scriptedRecognizer.ts';

const LOST = new ModelError('model_unavailable', 'lost');

/** A stream's transcription, whose caller speaks from 0 ms on. */
function transcribing(detectsTurns = false, startMs = 0) {
  const clock = createSimulatedClock();
  const recognizer = scriptedRecognizer(detectsTurns);
  const told: unknown[] = [];
  const heard: Int16Array[] = [];
  /** Of the recognizer, for each message while it is set. */
  const refusing: { error?: Error | undefined } = {};
  const [left, others]: [unknown[], { vendor: boolean; recognizer: boolean }] = [
    [],
    { vendor: false, recognizer: false },
  ];
  const transcription = new StreamTranscription({
    clock,
    speechToText: {
      ...recognizer,
      connect(...connecting) {
        const connection = recognizer.connect(...connecting);
        const push = (samples: Int16Array) => {
          if (refusing.error) throw refusing.error;
          heard.push(samples.slice());
        };
        return {
          ...connection,
          push,
          leave(_error: ModelError, lengthMs: number, mayReconnect: boolean) {
            if (others.vendor || mayReconnect) left.push([lengthMs, mayReconnect]);
            return others.vendor || mayReconnect;
          },
        };
      },
    },
    options: { sampleRateHz: 8000 },
    startMs,
    onInterim: (text) => void told.push(['interim', text]),
    onRevised: ({ text }) => void told.push(['revised', text]),
    onTurnSignal: (signal) => void told.push(signal),
    onFailed: (error) => void told.push(error.message),
    hasFallback: () => others.recognizer,
  });
  /** A frame that ends at this time; without a voice, no utterance is open. */
  const frame = (atMs: number, lastVoicedMs?: number, isEcho = false, voicedMs = 500) => {
    const utterance: Utterance | undefined =
      lastVoicedMs === undefined ? undefined : { startMs: 0, lastVoicedMs, voicedMs };
    transcription.push(new Int16Array(160).fill(9), { utterance, atMs, isEcho });
  };
  /** The answer to a request, once there is one. */
  const ask = () => {
    const asked: { answer?: Transcript; error?: unknown } = {};
    const requested = transcription.request(new AbortController().signal);
    requested.then(
      (answer) => Object.assign(asked, { answer }),
      (error: unknown) => Object.assign(asked, { error }),
    );
    return { asked, requested };
  };
  const timed = (text: string, endMs: number) =>
    recognizer.emit({ type: 'interim', transcript: { text, words: [{ word: text, startMs: 0, endMs }] } });
  /** A second of voice, and the silence after it up to this time. */
  const secondUntil = (untilMs: number) => {
    for (let atMs = 1_000; atMs <= untilMs; atMs += 20) frame(atMs, 1_000, false, 1_000);
  };
  return {
    clock,
    recognizer,
    transcription,
    told,
    heard,
    refusing,
    left,
    others,
    frame,
    secondUntil,
    ask,
    timed,
  };
}

const settled = () => new Promise(setImmediate);

describe('A request of words that are still being recognized', () => {
  test.each<[string, (call: ReturnType<typeof transcribing>) => void, string]>([
    [
      'by words that were final after the voice',
      ({ frame, recognizer }) => {
        frame(1_080, 1_000);
        recognizer.final('one');
      },
      'one',
    ],
    ['by a word that ends with the voice', ({ timed }) => timed('one', 850), 'one'],
    [
      'by words that are 300 ms behind the voice',
      ({ recognizer, frame }) => {
        recognizer.interim('one');
        frame(1_300, 1_000);
      },
      'one',
    ],
    ['by nothing, 2 s after a cough', ({ frame }) => frame(3_000, 1_000), ''],
    [
      'when the utterance is over',
      ({ recognizer, frame }) => {
        recognizer.interim('one');
        frame(1_020);
      },
      'one',
    ],
  ])('is answered %s', async (_what, happens, text) => {
    const call = transcribing();
    call.frame(1_000, 1_000);
    const { asked } = call.ask();
    happens(call);
    await settled();
    expect(asked.answer?.text).toBe(text);
    expect(call.recognizer.finalized).toBe(1);
  });

  test.each<[string, (call: ReturnType<typeof transcribing>) => void]>([
    [
      'words that were final before its end',
      ({ frame, recognizer }) => {
        frame(1_079, 1_000);
        recognizer.final('one');
      },
    ],
    ['a word that ends before it', ({ timed }) => timed('one', 849)],
    [
      'interim words less than 300 ms after it',
      ({ recognizer, frame }) => {
        recognizer.interim('one');
        frame(1_299, 1_000);
      },
    ],
    ['silence of less than 2 s', ({ frame }) => frame(2_999, 1_000)],
  ])('is not answered by %s', async (_what, happens) => {
    const call = transcribing();
    call.frame(1_000, 1_000);
    const { asked } = call.ask();
    happens(call);
    await settled();
    expect(asked).toEqual({});
  });

  test('is answered at once by words that are complete, without asking the recognizer', async () => {
    const { frame, timed, ask, recognizer } = transcribing();
    frame(1_000, 1_000);
    timed('one', 1_000);
    const { asked } = ask();
    await settled();
    expect([asked.answer?.text, recognizer.finalized]).toEqual(['one', 0]);
  });

  test('counts the times of words from the stream’s first sample', async () => {
    const { frame, timed, ask } = transcribing(false, 5_000);
    frame(6_000, 6_000);
    const { asked } = ask();
    timed('one', 1_000);
    await settled();
    expect(asked.answer?.text).toBe('one');
  });

  test('is told what its answer is revised to', async () => {
    const { frame, timed, ask, told, recognizer } = transcribing();
    frame(1_000, 1_000);
    ask();
    timed('one', 1_000);
    recognizer.interim('won');
    recognizer.interim('won');
    expect(told).toEqual([
      ['interim', 'one'],
      ['interim', 'won'],
      ['revised', 'won'],
    ]);
  });

  test('may be aborted, after which nothing answers or revises it', async () => {
    const { frame, transcription, told, recognizer } = transcribing();
    frame(1_000, 1_000);
    const left = new AbortController();
    const requested = transcription.request(left.signal);
    left.abort(new Error('left'));
    await expect(requested).rejects.toThrow('left');
    recognizer.final('one');
    frame(3_000, 1_000);
    expect(told).toEqual([['interim', 'one']]);
  });
});

describe('The last words of an utterance that is taken', () => {
  test.each<[string, boolean, (call: ReturnType<typeof transcribing>) => void, string]>([
    ['are those that become final', false, ({ recognizer }) => recognizer.final('one two'), 'one two'],
    ['are those of 700 ms later', false, ({ clock }) => clock.advance(700), 'one'],
    ['are those before the caller goes on', false, ({ frame }) => frame(2_000, 2_000), 'one'],
    ['are those before the stream ends', false, ({ transcription }) => transcription.close(), 'one'],
    [
      'are those before the recognizer is lost',
      false,
      ({ recognizer }) => recognizer.emit({ type: 'failed', error: LOST }),
      'one',
    ],
    [
      'are those of the turn that the recognizer ends',
      true,
      ({ recognizer }) => recognizer.final('one two'),
      'one two',
    ],
  ])('%s', async (_what, detectsTurns, happens, text) => {
    const call = transcribing(detectsTurns);
    call.frame(1_000, 1_000);
    call.recognizer.interim('one');
    const { requested } = call.ask();
    const taken = call.transcription.take(requested);
    expect(call.transcription.isOpen).toBe(false);
    happens(call);
    expect((await taken).text).toBe(text);
    expect(call.clock.pendingTimers()).toBe(0);
    expect(call.recognizer.finalized).toBe(1);
  });

  test('are not those of an earlier pause, by their times', async () => {
    const { frame, recognizer, ask, transcription, clock } = transcribing();
    frame(1_000, 1_000);
    const { requested, asked } = ask();
    const taken = transcription.take(requested);
    const final = (text: string, endMs: number) =>
      recognizer.emit({ type: 'final', transcript: { text, words: [{ word: text, startMs: 0, endMs }] } });
    final('one', 849);
    await settled();
    expect(asked).toEqual({});
    final('two', 850);
    expect((await taken).text).toBe('one two');
    expect(clock.pendingTimers()).toBe(0);
  });

  test('of an utterance that was answered are as they are', async () => {
    const { frame, timed, ask, transcription } = transcribing();
    frame(1_000, 1_000);
    timed('one', 1_000);
    const { requested } = ask();
    expect((await transcription.take(requested)).text).toBe('one');
  });
});

test('A recognizer that detects turns is asked to end one that is dropped, once', () => {
  const { frame, recognizer, transcription, told } = transcribing(true);
  frame(1_000, 1_000);
  recognizer.interim('one');
  recognizer.emit({ type: 'eager_end' });
  recognizer.emit({ type: 'turn_resumed' });
  transcription.discard();
  transcription.discard();
  expect(recognizer.finalized).toBe(1);
  recognizer.emit({ type: 'end_of_turn' });
  expect(told).toEqual([['interim', 'one'], 'eager_end', 'turn_resumed', 'end_of_turn']);
});

test('A lost recognizer fails the request and those after it, until it is connected again', async () => {
  const { frame, recognizer, ask, told } = transcribing();
  frame(1_000, 1_000);
  const first = ask();
  recognizer.emit({ type: 'failed', error: LOST });
  const second = ask();
  await settled();
  expect([first.asked.error, second.asked.error, told]).toEqual([LOST, LOST, ['lost']]);
  recognizer.emit({ type: 'connected' });
  const third = ask();
  frame(1_300, 1_000);
  recognizer.final('one');
  await settled();
  expect(third.asked.answer?.text).toBe('one');
});

test('An echo is silence for the recognizer', () => {
  const { frame, heard } = transcribing();
  frame(20, 20);
  frame(40, 20, true);
  frame(60, 60);
  expect(heard.map(([first]) => first)).toEqual([9, 0, 9]);
});

test('Silence is sent in messages of 80 ms, and at once where speech or the end of its turn is awaited', async () => {
  const { frame, heard, recognizer, transcription } = transcribing(true);
  const sent = () => heard.splice(0).map(({ length }) => length);
  for (let n = 1; n <= 6; n++) frame(20 * n);
  expect(sent()).toEqual([640]);
  frame(140, 140);
  frame(160, 140);
  expect(sent()).toEqual([480, 160]);
  recognizer.interim('one');
  frame(180);
  expect(sent()).toEqual([160]);
  recognizer.emit({ type: 'end_of_turn' });
  frame(200);
  expect(sent()).toEqual([]);
  frame(220, 220);
  const taken = transcription.take(transcription.request(new AbortController().signal));
  frame(240);
  expect(sent()).toEqual([320, 160]);
  transcription.close();
  await taken;
});

test('A message that the recognizer refuses is lost alone', () => {
  const { frame, heard, refusing } = transcribing();
  for (let n = 1; n <= 3; n++) frame(20 * n);
  refusing.error = LOST;
  expect(() => frame(80)).toThrow(LOST);
  refusing.error = undefined;
  for (let n = 5; n <= 8; n++) frame(20 * n);
  expect(heard.map(({ length }) => length)).toEqual([640]);
});

describe('A recognizer that tells no word of a second of voice', () => {
  test('is asked for them, then left for the next vendor 1.4 s after the voice, with the utterance to hear again', () => {
    const { secondUntil, recognizer, left, others } = transcribing(true);
    others.vendor = true;
    secondUntil(2_380);
    expect([recognizer.finalized, left]).toEqual([1, []]);
    secondUntil(2_600);
    expect(left).toEqual([[2_900, false]]);
  });

  test('is left at once where it answers with none', () => {
    const { secondUntil, recognizer, left, others } = transcribing(false);
    others.vendor = true;
    secondUntil(1_100);
    recognizer.final('');
    secondUntil(1_120);
    expect(left).toHaveLength(1);
  });

  test('fails where another recognizer takes over', async () => {
    const { secondUntil, ask, told, others } = transcribing(true);
    others.recognizer = true;
    secondUntil(1_100);
    const { asked } = ask();
    secondUntil(2_400);
    await settled();
    expect(told).toEqual(['scripted told no word of what was said']);
    expect(asked.error).toBeInstanceOf(ModelError);
  });

  test('is connected again after 2 s where it is the only one, unless it answers', () => {
    const silent = transcribing(true);
    silent.secondUntil(2_980);
    expect(silent.left).toEqual([]);
    silent.secondUntil(3_400);
    expect(silent.left).toEqual([[3_500, true]]);
    const answering = transcribing(false);
    answering.secondUntil(1_100);
    answering.recognizer.final('');
    answering.secondUntil(3_400);
    expect(answering.left).toEqual([]);
  });

  test.each<[string, (call: ReturnType<typeof transcribing>) => void]>([
    ['that told one', ({ recognizer }) => recognizer.interim('one')],
    ['of a shorter voice', ({ frame }) => frame(2_980, 1_000, false, 980)],
  ])('%s stays', (_what, happens) => {
    const call = transcribing(true);
    call.others.vendor = true;
    call.frame(1_000, 1_000);
    happens(call);
    call.frame(2_500, 1_000, false, 999);
    expect(call.left).toEqual([]);
  });
});

describe('Words of an utterance that another connection hears again', () => {
  /** The connection is lost in the middle of the words, and the caller has finished when the next one hears them. */
  function heardAgain(detectsTurns: boolean) {
    const call = transcribing(detectsTurns);
    call.frame(500, 500);
    call.recognizer.interim('I need');
    call.recognizer.emit({ type: 'reconnecting' });
    call.frame(1_000, 1_000);
    const { asked } = call.ask();
    call.frame(1_500, 1_000);
    call.recognizer.emit({ type: 'connected' });
    call.recognizer.interim('I need');
    return { ...call, asked };
  }

  test('do not answer a request before they are complete', async () => {
    const { asked, frame, timed } = heardAgain(true);
    frame(1_520, 1_000);
    timed('I need a new', 700);
    frame(1_900, 1_000);
    await settled();
    expect(asked).toEqual({});
    timed('I need a new key for the cellar door', 980);
    await settled();
    expect(asked.answer?.text).toBe('I need a new key for the cellar door');
  });

  test('are asked for, and answer once they are final', async () => {
    const { asked, frame, recognizer } = heardAgain(false);
    // When it was requested, and when the audio was there.
    expect(recognizer.finalized).toBe(2);
    frame(1_520, 1_000);
    recognizer.final('I need a new key');
    await settled();
    expect(asked.answer?.text).toBe('I need a new key');
  });

  test('are asked of a recognizer that tells turns once the caller has been silent for 900 ms', () => {
    const { frame, recognizer } = heardAgain(true);
    frame(1_880, 1_000);
    expect(recognizer.finalized).toBe(0);
    frame(1_900, 1_000);
    expect(recognizer.finalized).toBe(1);
  });

  test('answer when they have not changed for a second', async () => {
    const { asked, frame } = heardAgain(true);
    frame(2_480, 1_000);
    await settled();
    expect(asked).toEqual({});
    frame(2_500, 1_000);
    await settled();
    expect(asked.answer?.text).toBe('I need');
  });
});
