import { pcmu } from '../../src/media/codecs/g711.ts';
import { createLocalTextToSpeech } from '../../src/vendors/local/textToSpeech.ts';
import { speechOf } from '../../test/voice/support/recordedSession.ts';

const PACKET_BYTES = 160;

/** Words at 8 kHz. */
export async function recordedSpeech(text: string): Promise<Int16Array> {
  const speech = createLocalTextToSpeech({ threads: 1 });
  return await speechOf(speech, text).finally(() => speech.close());
}

/** The same in µ-law, in whole packets of 20 ms. */
export async function recordedWords(text: string): Promise<Uint8Array> {
  const samples = await recordedSpeech(text);
  const out = new Uint8Array(samples.length - (samples.length % PACKET_BYTES));
  pcmu.open().encode(samples.subarray(0, out.length), out);
  return out;
}
