import { z } from 'zod';
import { languageCodes, type Vendor } from '../../models/ports/vendor.ts';

export const BASE_URL = 'https://stt-rt.soniox.com';
export const MODEL = 'stt-rt-v5';

/** @see https://soniox.com/docs/stt/concepts/supported-languages */
const LANGUAGES = languageCodes(
  'af ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr gl gu he hi hr hu id it ja kk kn ko lt lv mk ml mr ms nl no pa pl pt ro ru sk sl sq sr sv sw ta te th tl tr uk ur vi zh',
);

/** @see https://soniox.com/docs/api-reference/stt/websocket-api */
export const OPTIONS = z.strictObject({
  max_endpoint_delay_ms: z.int().min(500).max(3000).optional(),
  endpoint_sensitivity: z.number().min(-1).max(1).optional(),
  endpoint_latency_adjustment_level: z.int().min(0).max(3).optional(),
  language_hints: z.array(z.string()).optional(),
  language_hints_strict: z.boolean().optional(),
  client_reference_id: z.string().max(256).optional(),
});

export const soniox = {
  service: { name: 'Soniox', baseUrl: BASE_URL },
  recognition: {
    models: [MODEL],
    options: () => OPTIONS,
    languages: (model = MODEL) => (model.startsWith('stt-rt') ? LANGUAGES : undefined),
  },
} satisfies Vendor;
