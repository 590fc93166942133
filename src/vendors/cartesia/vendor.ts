import { z } from 'zod';
import type { Vendor } from '../../models/ports/vendor.ts';

export const BASE_URL = 'https://api.cartesia.ai';

/** @see https://docs.cartesia.ai/api-reference/tts/websocket */
export const OPTIONS = z.strictObject({
  volume: z.number().min(0.5).max(2).optional(),
  emotion: z.string().min(1).max(50).optional(),
});

export const cartesia = {
  service: { name: 'Cartesia', baseUrl: BASE_URL },
  synthesis: { options: OPTIONS },
} satisfies Vendor;
