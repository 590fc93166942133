import { expect, test } from 'vitest';
import { countedEngine, countedRecognizer, countedSynthesizer } from '../../src/models/countedSpeech.ts';
import { isStreaming } from '../../src/models/ports/recognizer.ts';
import type { SpeechToSpeechEvent } from '../../src/models/ports/speechToSpeech.ts';
import type { RecognitionEvent } from '../../src/models/ports/streamingSpeechToText.ts';
import { takesWords } from '../../src/models/ports/synthesizer.ts';
import { scriptedSynthesizer } from '../voice/support/scriptedSynthesizer.ts';

const close = async () => undefined;
const forever = new AbortController().signal;
const second = new Int16Array(8000);

/** A connection to a recognizer of streams, and what was counted of it. */
function streamed() {
  const counted: number[] = [];
  let emit: (event: RecognitionEvent) => void = () => undefined;
  const recognizer = countedRecognizer(
    {
      name: 'r',
      detectsTurns: true,
      close,
      connect(_options, onEvent) {
        emit = onEvent;
        return { push: () => undefined, finalize: () => true, close: () => undefined };
      },
    },
    (heardMs) => counted.push(heardMs),
  );
  if (!isStreaming(recognizer)) throw new Error('does not stream');
  const connection = recognizer.connect({ sampleRateHz: 8000 }, () => undefined);
  return { connection, counted, emit: (event: RecognitionEvent) => emit(event) };
}

test('Audio of a recognized stream is counted every ten seconds, and the rest at its end', () => {
  const { connection, counted, emit } = streamed();
  connection.push(second);
  emit({ type: 'connected' });
  for (let pushed = 1; pushed < 13; pushed += 1) connection.push(second);
  expect(counted).toEqual([10_000]);
  connection.close();
  connection.close();
  expect(counted).toEqual([10_000, 3000]);
});

test('Audio of a connection that is never made is not counted', () => {
  const { connection, counted } = streamed();
  for (let pushed = 0; pushed < 13; pushed += 1) connection.push(second);
  connection.close();
  expect(counted).toEqual([]);
});

test('An utterance is counted once it was transcribed, and what follows a pause beside it', async () => {
  const counted: number[] = [];
  let isDown = true;
  const recognizer = countedRecognizer(
    {
      name: 'r',
      close,
      openStream: () => ({
        push: () => undefined,
        async finalize() {
          if (isDown) throw new Error('down');
          return { text: 'a table' };
        },
        close: () => undefined,
      }),
    },
    (heardMs) => counted.push(heardMs),
  );
  if (isStreaming(recognizer)) throw new Error('streams');
  const stream = recognizer.openStream({ sampleRateHz: 8000 });
  stream.push(second);
  await expect(stream.finalize(forever)).rejects.toThrow('down');
  isDown = false;
  await stream.finalize(forever);
  stream.push(second.subarray(0, 4000));
  await stream.finalize(forever);
  stream.close();
  expect(counted).toEqual([1000, 500]);
});

test.each([
  [2, [5]],
  [0, []],
])('A text of which %i chunks come counts its characters: %j', async (chunks, expected) => {
  const counted: number[] = [];
  const synthesizer = countedSynthesizer(
    {
      name: 's',
      sampleRateHz: 8000,
      isCacheable: true,
      close,
      async *synthesize() {
        for (let sent = 0; sent < chunks; sent += 1) yield second;
      },
    },
    (characters) => counted.push(characters),
  );
  if (takesWords(synthesizer)) throw new Error('takes words');
  for await (const _samples of synthesizer.synthesize({ text: 'Hello' }, forever));
  expect(counted).toEqual(expected);
});

test('Words that are spoken while they are written are counted as their sound comes', () => {
  const counted: number[] = [];
  const vendor = scriptedSynthesizer();
  vendor.isManual = true;
  const synthesizer = countedSynthesizer(vendor, (characters) => counted.push(characters));
  if (!takesWords(synthesizer)) throw new Error('takes no words');
  const stream = synthesizer.connect().speak({}, () => undefined);
  stream.write('Hello. ');
  expect(counted).toEqual([]);
  vendor.requests[0]?.emit({ type: 'samples', samples: second });
  stream.write('Bye.');
  vendor.requests[0]?.emit({ type: 'samples', samples: second });
  vendor.requests[0]?.emit({ type: 'done' });
  expect(counted).toEqual([7, 4]);
});

test('An engine’s tokens are counted as it reports them, those of a cancelled answer too', () => {
  const counted: number[] = [];
  let emit: (event: SpeechToSpeechEvent) => void = () => undefined;
  const engine = countedEngine(
    {
      name: 'e',
      model: 'e-1',
      sampleRateHz: 24_000,
      close,
      connect(_options, onEvent) {
        emit = onEvent;
        return {
          push: () => undefined,
          commit: () => 0,
          discard: () => undefined,
          answer: () => undefined,
          cancel: () => undefined,
          truncate: () => undefined,
          close: () => undefined,
        };
      },
    },
    ({ totalTokens }) => counted.push(totalTokens),
  );
  engine.connect({ sampleRateHz: 8000 }, () => undefined);
  emit({ type: 'done', usage: { promptTokens: 30, completionTokens: 12, totalTokens: 42 } });
  emit({ type: 'done' });
  emit({ type: 'usage', usage: { promptTokens: 10, completionTokens: 1, totalTokens: 11 } });
  expect(counted).toEqual([42, 11]);
});
