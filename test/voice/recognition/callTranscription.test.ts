import { describe, expect, test } from 'vitest';
import type { Utterance } from '../../../src/conversation/turnDetection/speechActivity.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import type { Recognizer } from '../../../src/models/ports/recognizer.ts';
import type { RecognitionConnectionOptions } from '../../../src/models/ports/streamingSpeechToText.ts';
import { CallTranscription } from '../../../src/voice/recognition/callTranscription.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { scriptedRecognizer } from '../support/scriptedRecognizer.ts';
import { scriptedCaller } from '../support/scriptedSpeech.ts';

const LOST = new ModelError('model_unavailable', 'lost');
const NEVER = () => new AbortController().signal;

/** A streaming recognizer that notes its connections. */
function named(name: string) {
  const connected: RecognitionConnectionOptions[] = [];
  let closed = 0;
  const recognizer = scriptedRecognizer(false);
  const speechToText: Recognizer = {
    ...recognizer,
    name,
    connect(options, listener) {
      connected.push(options);
      const connection = recognizer.connect(options, listener);
      return {
        ...connection,
        close: () => {
          closed += 1;
        },
      };
    },
  };
  return { speechToText, recognizer, connected, closed: () => closed };
}

function call() {
  const told: unknown[] = [];
  let received = 0;
  const transcription = new CallTranscription({
    clock: createSimulatedClock(),
    sampleRateHz: 8000,
    receivedSamples: () => received,
    hints: () => ({ language: 'en', expectedAnswers: ['yes'] }),
    onInterim: (text) => void told.push(text),
    onRevised: () => undefined,
    onTurnSignal: () => undefined,
    onFailed: ({ message }) => void told.push(message),
    onFallback: (from, to, { message }) => void told.push([from.name, to.name, message]),
    onRecognizer: ({ name }) => void told.push(`by ${name}`),
  });
  const frame = (lastVoicedMs?: number) => {
    received += 160;
    const utterance = lastVoicedMs === undefined ? undefined : ({ startMs: 0, lastVoicedMs } as Utterance);
    transcription.push(new Int16Array(160), { utterance, atMs: received / 8, isEcho: false });
  };
  /** Samples, in frames of an utterance that begins with them, or of silence. */
  const hear = (samples: Int16Array, lastVoicedMs: number | undefined) => {
    const startMs = received / 8;
    for (let at = 0; at < samples.length; at += 160) {
      received += 160;
      const utterance = lastVoicedMs === undefined ? undefined : { startMs, lastVoicedMs, voicedMs: 500 };
      transcription.push(samples.subarray(at, at + 160), { utterance, atMs: received / 8, isEcho: false });
    }
  };
  return { transcription, told, frame, hear };
}

test('What the caller says before a recognizer is known is heard by the first one, up to ten seconds', async () => {
  const { transcription, told, frame } = call();
  const first = named('first');
  for (let n = 0; n < 501; n++) frame();
  expect(await transcription.request(NEVER())).toEqual({ text: '' });
  transcription.use([first.speechToText]);
  frame(10_040);
  expect(first.recognizer.heardSamples).toBe(501 * 160);
  expect([told, first.connected]).toEqual([['by first'], [{ sampleRateHz: 8000, language: 'en' }]]);
});

test('A recognizer changes once the utterance is over, and the one before it is closed', () => {
  const { transcription, told, frame } = call();
  const [first, second] = [named('first'), named('second')];
  transcription.use([first.speechToText]);
  frame(20);
  transcription.use([second.speechToText]);
  frame(40);
  expect(told).toEqual(['by first']);
  transcription.discard();
  frame(60);
  expect([told, first.closed(), second.recognizer.heardSamples]).toEqual([['by first', 'by second'], 1, 160]);
  transcription.close();
  transcription.use([first.speechToText]);
  expect([second.closed(), first.connected.length]).toEqual([1, 1]);
});

test('A call that ends in the middle of an utterance closes it', () => {
  const { transcription, frame } = call();
  const caller = scriptedCaller();
  let closed = 0;
  const openStream: typeof caller.openStream = (options) => ({
    ...caller.openStream(options),
    close: () => void closed++,
  });
  transcription.use([{ ...caller, openStream }]);
  frame(20);
  transcription.close();
  expect(closed).toBe(1);
});

test('A recognizer that is lost is left for the next one, and each is left once', () => {
  const { transcription, told, frame } = call();
  const [first, second] = [named('first'), named('second')];
  transcription.use([first.speechToText, second.speechToText]);
  first.recognizer.emit({ type: 'failed', error: LOST });
  first.recognizer.emit({ type: 'failed', error: LOST });
  frame();
  second.recognizer.emit({ type: 'failed', error: LOST });
  expect(told).toEqual(['by first', 'lost', ['first', 'second', 'lost'], 'by second', 'lost', 'lost']);
});

test('A request that was aborted leaves the recognizer', async () => {
  const { transcription, told, frame } = call();
  const [caller, second] = [scriptedCaller(), named('second')];
  caller.fail = LOST;
  transcription.use([caller, second.speechToText]);
  frame(20);
  await expect(transcription.request(AbortSignal.abort(LOST))).rejects.toBe(LOST);
  transcription.discard();
  frame();
  expect(told).toEqual(['by scripted']);
});

describe('An utterance whose recognizer is lost', () => {
  test.each([
    ['before the request', true],
    ['during the request', false],
  ])('%s is heard by the next one, which takes whole utterances', async (_when, isBefore) => {
    const { transcription, told, hear } = call();
    const [first, caller] = [named('first'), scriptedCaller()];
    transcription.use([first.speechToText, caller]);
    hear(new Int16Array(8000), undefined);
    hear(caller.say('I need a new key', 1000), 2000);
    if (isBefore) first.recognizer.emit({ type: 'failed', error: LOST });
    const requested = transcription.request(NEVER());
    first.recognizer.emit({ type: 'failed', error: LOST });
    expect(await requested).toEqual({ text: 'I need a new key' });
    expect(told).toContainEqual(['first', 'scripted', 'lost']);
  });

  test('is heard by the next one where the first takes whole utterances too', async () => {
    const { transcription, hear } = call();
    const [first, second] = [scriptedCaller(), scriptedCaller()];
    first.fail = LOST;
    transcription.use([first, second]);
    hear(second.say('a new key', 500), 500);
    expect(await transcription.request(NEVER())).toEqual({ text: 'a new key' });
  });

  test('is lost where none is left', async () => {
    const { transcription, frame } = call();
    const caller = scriptedCaller();
    caller.fail = LOST;
    transcription.use([caller]);
    frame(20);
    await expect(transcription.request(NEVER())).rejects.toBe(LOST);
  });

  test('is not heard again once it is over', () => {
    const { transcription, frame } = call();
    const [first, second] = [named('first'), named('second')];
    transcription.use([first.speechToText, second.speechToText]);
    for (let n = 0; n < 50; n++) frame(20);
    transcription.discard();
    for (let n = 0; n < 20; n++) frame();
    first.recognizer.emit({ type: 'failed', error: LOST });
    // The beginning of the next one may be in what was heard last.
    expect(second.recognizer.heardSamples).toBeLessThanOrEqual(15 * 160);
  });
});

test('A recognizer that begins in the middle of a call counts times from its own first sample', async () => {
  const { transcription, frame } = call();
  const [first, second] = [named('first'), named('second')];
  transcription.use([first.speechToText]);
  for (let n = 0; n < 50; n++) frame();
  transcription.use([second.speechToText]);
  frame(1_020);
  const requested = transcription.request(NEVER());
  const words = [{ word: 'one', startMs: 0, endMs: 20 }];
  second.recognizer.emit({ type: 'interim', transcript: { text: 'one', words } });
  expect(await requested).toEqual({ text: 'one', language: undefined });
});
