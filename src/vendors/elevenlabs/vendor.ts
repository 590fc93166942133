import { z } from 'zod';
import type { Vendor } from '../../models/ports/vendor.ts';

export const BASE_URL = 'https://api.elevenlabs.io';

/** @see https://elevenlabs.io/docs/api-reference/text-to-speech/v-1-text-to-speech-voice-id-multi-stream-input */
export const OPTIONS = z.strictObject({
  stability: z.number().min(0).max(1).optional(),
  similarity_boost: z.number().min(0).max(1).optional(),
  style: z.number().min(0).max(1).optional(),
  use_speaker_boost: z.boolean().optional(),
  apply_text_normalization: z.enum(['auto', 'on', 'off']).optional(),
  enable_logging: z.boolean().optional(),
});

export const elevenlabs = {
  service: { name: 'ElevenLabs', baseUrl: BASE_URL },
  synthesis: { options: OPTIONS },
} satisfies Vendor;
