import { z } from 'zod';
import type { StreamingSpeechToText } from '../../models/ports/streamingSpeechToText.ts';
import type { StreamingTextToSpeech } from '../../models/ports/streamingTextToSpeech.ts';
import type { SpeechToTextOptions, TextToSpeechOptions } from '../../models/providerOptions.ts';
import { vendorRecognizerDeps } from '../../models/recognition/socketRecognizer.ts';
import { vendorSynthesizerDeps } from '../../models/synthesis/socketSynthesizer.ts';
import type { VoiceLookup } from '../../models/voiceLookup.ts';
import { authorization, DEEPGRAM_BASE_URL } from './settings.ts';
import { createDeepgramSpeechToText } from './speechToText.ts';
import { createDeepgramTextToSpeech } from './textToSpeech.ts';

export function createSpeechToText(options: SpeechToTextOptions): StreamingSpeechToText {
  return createDeepgramSpeechToText(vendorRecognizerDeps(options));
}

export function createTextToSpeech(options: TextToSpeechOptions): StreamingTextToSpeech {
  return createDeepgramTextToSpeech(vendorSynthesizerDeps(options, DEEPGRAM_BASE_URL));
}

const models = z.object({
  tts: z.array(z.object({ name: z.string(), canonical_name: z.string().optional() })).min(1),
});

/** A voice is a model. @see https://developers.deepgram.com/reference/manage/models/list */
export const lookUpVoice: VoiceLookup = async ({ apiKey, baseUrl = DEEPGRAM_BASE_URL }, voice, ask) => {
  const url = new URL('/v1/models?include_outdated=true', baseUrl);
  const response = await ask(url.href, authorization(apiKey).headers ?? {});
  const told = response.ok ? models.safeParse(await response.json()) : undefined;
  if (!told?.success) return undefined;
  return told.data.tts.some(({ name, canonical_name }) => [name, canonical_name].includes(voice));
};
