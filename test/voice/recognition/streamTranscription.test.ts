import { describe, expect, test } from 'vitest';
import { ModelError } from '../../../src/providers/ports/modelError.ts';
import type { Transcript } from '../../../src/providers/ports/speechToText.ts';
import type { Utterance } from '../../../src/voice/recognition/speechActivity.ts';
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
        return { ...connection, push };
      },
    },
    options: { sampleRateHz: 8000 },
    startMs,
    onInterim: (text) => void told.push(['interim', text]),
    onRevised: ({ text }) => void told.push(['revised', text]),
    onTurnSignal: (signal) => void told.push(signal),
    onFailed: (error) => void told.push(error.message),
  });
  /** A frame that ends at this time; without a voice, no utterance is open. */
  const frame = (atMs: number, lastVoicedMs?: number, isEcho = false) => {
    const utterance = lastVoicedMs === undefined ? undefined : ({ startMs: 0, lastVoicedMs } as Utterance);
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
  return { clock, recognizer, transcription, told, heard, refusing, frame, ask, timed };
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
  recognizer.final('one');
  frame(1_300, 1_000);
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
