import { z } from 'zod';
import { RECOGNITION_PROVIDERS, SYNTHESIS_PROVIDERS } from '../../vendors/registry.ts';
import { callLimits } from '../accounts/callLimits.ts';

const MOST_MODELS = 500;
const MAX_NAME_CHARACTERS = 200;
const HIGHEST_PRICE = 1_000_000;

const price = z.number().min(0).max(HIGHEST_PRICE);
const model = z.string().min(1).max(MAX_NAME_CHARACTERS);
const ofProvider = model
  .optional()
  .describe('Absent: all models of the provider that have no rate of their own.');

const chat = z.strictObject({
  model: model.describe(
    'As the endpoint names itself in its answers. A name without a date is also that of its dated versions: `gpt-x` is the rate of `gpt-x-2026-01-01`, `gpt-x-20260101`, `gpt-x-0101`, `gpt-x-001` and `gpt-x-latest` that have none of their own.',
  ),
  inputPerMillion: price,
  outputPerMillion: price,
  cachedInputPerMillion: price.optional().describe('Of cached input tokens. Default: `inputPerMillion`.'),
});
const recognition = z.strictObject({
  provider: z.enum(RECOGNITION_PROVIDERS),
  model: ofProvider,
  perMinute: price,
});
const synthesis = z.strictObject({
  provider: z.enum(SYNTHESIS_PROVIDERS),
  model: ofProvider,
  perMillionCharacters: price,
});

export const rates = z
  .strictObject({
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be three capital letters of ISO 4217, such as USD')
      .meta({ example: 'USD' }),
    chat: priceList(chat, ({ model }) => model).describe('Of tokens, also those of speech-to-speech models.'),
    recognition: priceList(recognition, nameOf),
    synthesis: priceList(synthesis, nameOf),
    carrier: callLimits.shape.rates
      .default([])
      .describe(
        'Of a minute of each leg that the project calls: outbound calls, transfer targets and participants. The longest matching prefix decides. A leg that came in costs nothing.',
      ),
  })
  .meta({
    id: 'Rates',
    description:
      'What the vendors bill, in one currency. Without a rate nothing is priced: what has none is named.',
    examples: [
      {
        currency: 'USD',
        chat: [{ model: 'gpt-x', inputPerMillion: 2, outputPerMillion: 8, cachedInputPerMillion: 0.5 }],
        recognition: [{ provider: 'deepgram', perMinute: 0.0077 }],
        synthesis: [{ provider: 'elevenlabs', perMillionCharacters: 50 }],
        carrier: [{ prefix: '+886', perMinute: 0.04 }],
      },
    ],
  });
export type Rates = z.infer<typeof rates>;

/** The rates of projects, and with null as the project those of the installation. */
export interface RatesStore {
  /** Finds the rates that hold now, without those of the installation for a project that has none. */
  own(projectId: string | null): Promise<Rates | undefined>;
  /** Finds the rates that the project had at a time, its own or the installation's. @param at - ISO 8601. */
  at(projectId: string, at: string): Promise<Rates | undefined>;
  /** Finds the currency of the rates at a time, or else of the first ones after it. @param at - ISO 8601. */
  currencyFrom(projectId: string, at: string): Promise<string | undefined>;
  /** Changes the rates. @param rates - Null: the project has none of its own any more. */
  put(projectId: string | null, rates: Rates | null, validFrom: string): Promise<void>;
}

export const sessionCost = z
  .object({
    total: z.number().describe('The sum of the parts.'),
    chat: z.number(),
    recognition: z.number(),
    synthesis: z.number(),
    carrier: z.number(),
    afterwards: z.number().describe('Of `usage.afterwards`.'),
    currency: z.string().meta({ example: 'USD' }),
    unpriced: z
      .array(z.string())
      .describe(
        'What the session used and the total leaves out: what no rate is for, and models whose endpoint tells no tokens. Models, `provider/model` of speech, `carrier`.',
      )
      .meta({ example: ['deepgram/nova-3'] }),
  })
  .meta({
    id: 'SessionCost',
    description:
      'By the rates at the session’s end. Each part is rounded to 9 digits after the decimal point.',
  });
export type SessionCost = z.infer<typeof sessionCost>;

/** A list that names each of its entries once: of two prices, none would be the right one. */
function priceList<Entry extends z.ZodType>(entry: Entry, nameOf: (entry: z.output<Entry>) => string) {
  return z
    .array(entry)
    .max(MOST_MODELS)
    .default([])
    .superRefine((entries, context) => {
      const names = new Set<string>();
      for (const [index, one] of entries.entries()) {
        const name = nameOf(one);
        if (names.has(name)) {
          context.addIssue({ code: 'custom', path: [index], message: `has a second rate for ${name}` });
        }
        names.add(name);
      }
    });
}

function nameOf({ provider, model }: { readonly provider: string; readonly model?: string | undefined }) {
  return model === undefined ? provider : `${provider}/${model}`;
}
