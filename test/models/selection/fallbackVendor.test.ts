import { expect, test } from 'vitest';
import { isStreaming } from '../../../src/models/ports/recognizer.ts';
import type { RecognitionOptions } from '../../../src/models/ports/speechToText.ts';
import type { RecognitionConnectionOptions } from '../../../src/models/ports/streamingSpeechToText.ts';
import { takesWords } from '../../../src/models/ports/synthesizer.ts';
import type { SynthesisRequest } from '../../../src/models/ports/textToSpeech.ts';
import { withOwnHints, withOwnSpeed } from '../../../src/models/selection/fallbackVendor.ts';
import { scriptedRecognizer } from '../../voice/support/scriptedRecognizer.ts';
import { scriptedCaller, scriptedVoice } from '../../voice/support/scriptedSpeech.ts';
import { scriptedSynthesizer } from '../../voice/support/scriptedSynthesizer.ts';

const HINTS = { sampleRateHz: 8000, keyterms: ['Callway'], language: 'en' };

test('A recognizer has the language and the keyterms of its entry, else those of the call', () => {
  const told: (RecognitionConnectionOptions | RecognitionOptions)[] = [];
  const streaming = scriptedRecognizer(true);
  const { connect } = streaming;
  streaming.connect = (options, onEvent) => {
    told.push(options);
    return connect(options, onEvent);
  };
  const batch = scriptedCaller();
  const { openStream } = batch;
  batch.openStream = (options) => {
    told.push(options);
    return openStream(options);
  };
  const first = withOwnHints(streaming, { language: 'de' });
  if (isStreaming(first))
    first.connect({ ...HINTS, language: undefined, languages: ['en', 'fr'] }, () => undefined);
  const second = withOwnHints(batch, { keyterms: ['Ana'] });
  if (!isStreaming(second)) second.openStream(HINTS);
  expect(told).toEqual([
    { ...HINTS, language: 'de', languages: undefined },
    { ...HINTS, keyterms: ['Ana'] },
  ]);
  expect(withOwnHints(batch, {})).toBe(batch);
});

test('A voice speaks at the speed of its entry, else at that of the call', () => {
  const speeds: unknown[] = [];
  const streamed = scriptedSynthesizer();
  const first = withOwnSpeed(streamed, 1.5);
  if (takesWords(first)) first.connect().speak({ speed: 1, voice: 'mia' }, () => undefined);
  const whole = {
    ...scriptedVoice(),
    async *synthesize({ speed }: SynthesisRequest) {
      speeds.push(speed);
      yield new Int16Array(1);
    },
  };
  const second = withOwnSpeed(whole, 0.8);
  if (!takesWords(second))
    void second
      .synthesize({ text: 'Hello', speed: 1 }, new AbortController().signal)
      [Symbol.asyncIterator]()
      .next();
  expect([streamed.requests[0]?.voice, speeds]).toEqual([{ speed: 1.5, voice: 'mia' }, [0.8]]);
  expect(withOwnSpeed(whole, undefined)).toBe(whole);
});
