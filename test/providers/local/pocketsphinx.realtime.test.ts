import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { answerGrammar, spokenForm } from '../../../src/providers/local/grammar.ts';
import { createPocketsphinx, POCKETSPHINX_COMMAND } from '../../../src/providers/local/pocketsphinx.ts';
import { createRecogniserFeed } from '../../../src/providers/local/spectralFolding.ts';
import type { RecognitionOptions, SpeechToText } from '../../../src/providers/ports/speechToText.ts';
import { watchLeaks } from '../../support/leaks.ts';
import { spoken } from '../../support/spoken.ts';

const forever = new AbortController().signal;
const ANSWERS = ['yes please', 'no thank you', 'speak to a human', 'in 12 days'];
let stt: SpeechToText;
let assertNoLeaks: () => Promise<void>;

beforeAll(() => {
  assertNoLeaks = watchLeaks();
  stt = createPocketsphinx({ clock: systemClock, searchPath: process.env.PATH ?? '' });
});
afterAll(async () => {
  await stt.close();
  await assertNoLeaks();
});

async function recognise(samples: Int16Array, more: Partial<RecognitionOptions> = {}): Promise<string> {
  const transcription = stt.openStream({ sampleRateHz: 8000, ...more });
  for (let at = 0; at < samples.length; at += 160) transcription.push(samples.subarray(at, at + 160));
  const { text } = await transcription.finalize(forever);
  transcription.close();
  return text;
}

describe('telephone audio, recognised', () => {
  test.each(['yes please', 'no thank you', 'speak to a human', 'in twelve days'])(
    '%j among the expected answers',
    async (text) => {
      expect(await recognise(await spoken(text, 8000), { expectedAnswers: ANSWERS })).toBe(text);
    },
  );

  test('freely, where nothing is expected', async () => {
    const heard = await recognise(await spoken('I would like to book a table for four people', 8000));
    expect(heard).toMatch(/i would like to .* table for four people/);
  }, 30_000);

  test('silence has no words', async () => {
    expect(await recognise(new Int16Array(8000), { expectedAnswers: ANSWERS })).toBe('');
  });

  test('what comes after a pause is heard together with what came before', async () => {
    const [yes, please] = await Promise.all([spoken('yes', 8000), spoken('please', 8000)]);
    const transcription = stt.openStream({
      sampleRateHz: 8000,
      expectedAnswers: ['yes', 'yes please', 'no'],
    });
    transcription.push(yes);
    expect(await transcription.finalize(forever)).toEqual({ text: 'yes' });
    transcription.push(please);
    expect(await transcription.finalize(forever)).toEqual({ text: 'yes please' });
    transcription.close();
  });

  test('an abort ends the question and the process', async () => {
    const transcription = stt.openStream({ sampleRateHz: 8000 });
    transcription.push(new Int16Array(8000));
    const controller = new AbortController();
    const asked = transcription.finalize(controller.signal);
    controller.abort(new Error('went on speaking'));
    await expect(asked).rejects.toThrow('went on speaking');
    transcription.close();
  });
});

test('where it is not installed the error says how to install it', async () => {
  const missing = createPocketsphinx({ clock: systemClock, searchPath: '/nowhere' });
  const transcription = missing.openStream({ sampleRateHz: 8000 });
  transcription.push(new Int16Array(160));
  await expect(transcription.finalize(forever)).rejects.toMatchObject({
    code: 'model_rejected',
    message: expect.stringContaining(POCKETSPHINX_COMMAND),
  });
  transcription.close();
  await missing.close();
});

describe('the grammar', () => {
  const knows = (word: string) => !['callway', 'um', 'uh', 'well', 'oh', 'thanks'].includes(word);

  test('has the phrases that can be spoken, with what people put around them', () => {
    expect(answerGrammar(['Yes!', 'no', 'YES', 'Callway, please'], knows)).toEqual({
      text: '#JSGF V1.0;\ngrammar answers;\npublic <answer> = ( yes | no ) [ please | thank you ];\n',
      words: new Set(['yes', 'no', 'please', 'thank', 'you']),
    });
  });

  test.each([[[]], [['Callway']], [['是']], [['…']]])('is none for %j', (answers) => {
    expect(answerGrammar(answers, (word) => /^[a-z']+$/.test(word) && knows(word))).toBeUndefined();
  });

  test.each([
    ['Table 4', 'table four'],
    ['20', 'twenty'],
    ['42', 'forty two'],
    ['07', 'zero seven'],
    ['110', 'one one zero'],
    ['I don’t know.', "i don't know"],
    ['x; public <y> = z', 'x public y z'],
  ])('%j is spoken as %j', (phrase, words) => expect(spokenForm(phrase)).toBe(words));
});

describe('spectral folding', () => {
  const tone = (hz: number, rateHz: number, seconds: number) =>
    Int16Array.from({ length: rateHz * seconds }, (_, n) =>
      Math.round(8000 * Math.sin((2 * Math.PI * hz * n) / rateHz)),
    );
  const level = (samples: Int16Array, hz: number, rateHz: number) => {
    let [real, imaginary] = [0, 0];
    for (const [n, sample] of samples.entries()) {
      real += sample * Math.cos((2 * Math.PI * hz * n) / rateHz);
      imaginary += sample * Math.sin((2 * Math.PI * hz * n) / rateHz);
    }
    return (2 * Math.hypot(real, imaginary)) / samples.length;
  };

  test('puts the mirror image of the band into the empty upper one, half as loud', () => {
    const feed = createRecogniserFeed(8000, 8000);
    const chunks = [0, 1, 2, 3].flatMap((n) => [
      ...feed.convert(tone(1000, 8000, 1).subarray(n * 1600, n * 1600 + 1600)),
    ]);
    const settled = Int16Array.from(chunks).subarray(1600, 1600 + 9600);
    expect(level(settled, 1000, 16_000)).toBeCloseTo(8000, -3);
    expect(level(settled, 7000, 16_000)).toBeCloseTo(4000, -3);
    expect(level(settled, 3000, 16_000)).toBeLessThan(50);
  });

  test('leaves wideband audio alone', () => {
    const samples = tone(1000, 16_000, 1);
    expect(createRecogniserFeed(16_000, 16_000).convert(samples)).toEqual(samples);
  });

  test('takes chunks longer than announced in pieces', () => {
    expect(createRecogniserFeed(24_000, 480).convert(new Int16Array(24_000)).length).toBe(16_000);
  });
});
