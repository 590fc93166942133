import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { RecognitionOptions, SpeechToText } from '../../../src/models/ports/speechToText.ts';
import { createLocalSpeechToText, INSTALL_COMMAND } from '../../../src/vendors/local/speechToText.ts';
import { detectLeaks } from '../../support/leaks.ts';
import { synthesizeSpeech } from '../../support/synthesizedSpeech.ts';

const forever = new AbortController().signal;
const ANSWERS = ['yes please', 'no thank you', 'speak to a human', 'in 12 days'];
let stt: SpeechToText;
let assertNoLeaks: () => Promise<void>;

beforeAll(() => {
  assertNoLeaks = detectLeaks();
  stt = createLocalSpeechToText({ searchPath: process.env.PATH ?? '' });
});
afterAll(async () => {
  await stt.close();
  await assertNoLeaks();
});

async function recognize(samples: Int16Array, options: Partial<RecognitionOptions> = {}): Promise<string> {
  const stream = stt.openStream({ sampleRateHz: 8000, ...options });
  for (let start = 0; start < samples.length; start += 160) stream.push(samples.subarray(start, start + 160));
  const { text } = await stream.finalize(forever);
  stream.close();
  return text;
}

describe('Offline recognition of telephone audio', () => {
  test.each(['yes please', 'no thank you', 'speak to a human', 'in twelve days'])(
    'recognizes %j among the expected answers',
    async (text) => {
      expect(await recognize(await synthesizeSpeech(text, 8000), { expectedAnswers: ANSWERS })).toBe(text);
    },
  );

  test('recognizes a sentence without expected answers', async () => {
    const text = await recognize(
      await synthesizeSpeech('I would like to book a table for four people', 8000),
    );
    expect(text).toMatch(/i would like to .* table for four people/);
  }, 30_000);

  test('returns an empty transcript for silence', async () => {
    expect(await recognize(new Int16Array(8000), { expectedAnswers: ANSWERS })).toBe('');
  });

  test('recognizes what was said so far while the caller speaks on', async () => {
    const stream = stt.openStream({ sampleRateHz: 8000, expectedAnswers: ANSWERS });
    stream.push(await synthesizeSpeech('yes please', 8000));
    const heard = async () => expect((await stream.finalize(forever, true)).text).toBe('yes please');
    await vi.waitFor(heard, { timeout: 20_000 });
    stream.push(new Int16Array(4000));
    expect(await stream.finalize(forever)).toEqual({ text: 'yes please' });
    stream.close();
  });

  test('recognizes 24 kHz audio pushed in one chunk of several seconds', async () => {
    const quiet = new Int16Array(24_000);
    const speech = await synthesizeSpeech('yes please', 24_000);
    const stream = stt.openStream({ sampleRateHz: 24_000, expectedAnswers: ANSWERS });
    stream.push(Int16Array.from([...quiet, ...speech, ...quiet]));
    expect(await stream.finalize(forever)).toEqual({ text: 'yes please' });
    stream.close();
  });

  test('recognizes audio after a pause together with the audio before it', async () => {
    const [yes, please] = await Promise.all([
      synthesizeSpeech('yes', 8000),
      synthesizeSpeech('please', 8000),
    ]);
    const stream = stt.openStream({ sampleRateHz: 8000, expectedAnswers: ['yes', 'yes please', 'no'] });
    stream.push(yes);
    expect(await stream.finalize(forever)).toEqual({ text: 'yes' });
    stream.push(please);
    expect(await stream.finalize(forever)).toEqual({ text: 'yes please' });
    stream.close();
  });

  test('rejects with the reason of an abort and ends the process', async () => {
    const stream = stt.openStream({ sampleRateHz: 8000 });
    stream.push(new Int16Array(8000));
    const controller = new AbortController();
    const transcript = stream.finalize(controller.signal);
    controller.abort(new Error('the caller continued'));
    await expect(transcript).rejects.toThrow('the caller continued');
    stream.close();
  });
});

test('Offline recognition without PocketSphinx rejects with the command that installs it', async () => {
  const missing = createLocalSpeechToText({ searchPath: '/nowhere' });
  const stream = missing.openStream({ sampleRateHz: 8000 });
  stream.push(new Int16Array(160));
  await expect(stream.finalize(forever)).rejects.toMatchObject({
    code: 'model_rejected',
    message: expect.stringContaining(INSTALL_COMMAND),
  });
  stream.close();
  await missing.close();
});
