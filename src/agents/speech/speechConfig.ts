import { z } from 'zod';
import {
  RECOGNITION_PROVIDERS,
  recognitionVendor,
  SYNTHESIS_PROVIDERS,
  synthesisVendor,
} from '../../vendors/registry.ts';
import { languageTag } from '../fields.ts';
import { jsonObjectSchema, text } from '../pathway/schema/fields.ts';

const MAX_NAME_CHARACTERS = 200;
const MAX_KEYTERMS = 100;
const MAX_KEYTERM_CHARACTERS = 100;
const MAX_FALLBACKS = 4;
const MAX_PRONUNCIATIONS = 200;
const MAX_LANGUAGES = 20;

const name = text(1, MAX_NAME_CHARACTERS);

const recognition = z.strictObject({
  provider: z.enum(RECOGNITION_PROVIDERS).optional().describe('Default: the installation’s.'),
  model: name.optional().describe('Default: the installation’s, or the provider’s own.'),
  language: languageTag
    .optional()
    .describe(
      'Of the conversation. Default: the session’s variable `language`, which goes before the agent’s and not before a node’s, else the first of `languages`.',
    ),
  keyterms: z
    .array(text(1, MAX_KEYTERM_CHARACTERS))
    .max(MAX_KEYTERMS)
    .optional()
    .describe('Words that the caller may say and the recognition may not know, such as names.'),
  options: jsonObjectSchema
    .optional()
    .describe(
      'What only this provider knows, by the names of its API. `openai` is a Realtime transcription session; `{"batch": true}` is the endpoint that takes an utterance at a time.',
    ),
});
const synthesis = z.strictObject({
  provider: z.enum(SYNTHESIS_PROVIDERS).optional().describe('Default: the installation’s.'),
  model: name.optional().describe('Default: the installation’s, or the provider’s own.'),
  voice: name.optional().describe('The provider’s name of a voice. Default: the installation’s.'),
  speed: z
    .number()
    .min(0.5)
    .max(2)
    .optional()
    .describe('1 is the voice’s own pace. Default: 1; in `fallback`, that of `synthesis`.'),
  options: jsonObjectSchema.optional().describe('What only this provider knows, by the names of its API.'),
});
const languages = z
  .array(languageTag)
  .min(1)
  .max(MAX_LANGUAGES)
  .refine(
    (tags) => new Set(tags.map((tag) => tag.toLowerCase())).size === tags.length,
    '{field} must be unique',
  )
  .describe(
    'What the agent speaks, the first one at first. The language that the recognition hears becomes that of the session’s variable `language`, and so of the answer, its voice, the fallback phrases and the placeholders. A node that names `recognition.language` stays in it.',
  );
const voices = z
  .record(
    languageTag,
    z.strictObject({
      provider: z.enum(SYNTHESIS_PROVIDERS).optional(),
      voice: name,
      model: name.optional(),
    }),
  )
  .refine((byTag) => Object.keys(byTag).length <= MAX_LANGUAGES, `{field} must be ${MAX_LANGUAGES} at most`)
  .describe(
    'The voice of each language, in place of that of `synthesis`; without a provider it is one of `synthesis`’s.',
  );

export const speech = z
  .strictObject({
    recognition: recognition.superRefine(refuseUnknownRecognitionOptions).optional(),
    synthesis: synthesis.superRefine(refuseUnknownSynthesisOptions).optional(),
    languages: languages.optional(),
    voices: voices.optional(),
    pronunciations: z
      .array(z.strictObject({ word: name, say: name }))
      .max(MAX_PRONUNCIATIONS)
      .optional()
      .describe('How words are said, in the order of precedence.'),
    noiseSuppression: z
      .boolean()
      .optional()
      .describe(
        'Whether noise is removed from what the recognition hears; the recording keeps it. A number’s own setting goes before the agent’s. Default: false.',
      ),
    fallback: z
      .strictObject({
        recognition: z
          .array(recognition.required({ provider: true }).superRefine(refuseUnknownRecognitionOptions))
          .max(MAX_FALLBACKS)
          .optional(),
        synthesis: z
          .array(synthesis.required({ provider: true }).superRefine(refuseUnknownSynthesisOptions))
          .max(MAX_FALLBACKS)
          .optional(),
      })
      .optional()
      .describe('Tried in order when a provider fails or is slow, in the middle of a call too.'),
  })
  .describe(
    'On the phone: the providers of speech. A node’s keys override the agent’s. The project’s credentials for a provider that is named here go before the installation’s.',
  )
  .meta({
    examples: [{ recognition: { provider: 'openai', language: 'en' }, synthesis: { voice: 'alloy' } }],
  });

type Issue = { readonly path: PropertyKey[]; readonly message: string };

/** Returns the problems of a provider's options, by their place in them. */
export function wrongOptions(provider: string, schema: z.ZodType, options: unknown): Issue[] {
  const { error } = schema.safeParse(options);
  return (error?.issues ?? []).flatMap((issue): Issue[] => {
    if (issue.code !== 'unrecognized_keys')
      return [{ path: issue.path, message: `is wrong: ${issue.message}` }];
    return issue.keys.map((key) => ({ path: [...issue.path, key], message: `is no option of ${provider}` }));
  });
}

function refuseUnknownRecognitionOptions(
  { provider, model, options }: z.infer<typeof recognition>,
  context: z.core.$RefinementCtx,
): void {
  if (provider === undefined || options === undefined) return;
  refuse(wrongOptions(provider, recognitionVendor(provider).options({ model, options }), options), context);
}

function refuseUnknownSynthesisOptions(
  { provider, options }: z.infer<typeof synthesis>,
  context: z.core.$RefinementCtx,
): void {
  if (provider === undefined || options === undefined) return;
  refuse(wrongOptions(provider, synthesisVendor(provider).options, options), context);
}

function refuse(issues: readonly Issue[], context: z.core.$RefinementCtx): void {
  for (const { path, message } of issues)
    context.addIssue({ code: 'custom', path: ['options', ...path], message: `{field} ${message}` });
}

export type SpeechConfig = z.infer<typeof speech>;
export type RecognitionChoice = NonNullable<SpeechConfig['recognition']>;
export type SynthesisChoice = NonNullable<SpeechConfig['synthesis']>;

/** The agent's speech, with what the node overrides. What belongs to the agent's provider is not told another one. */
export function speechOf(
  agent: SpeechConfig | null | undefined,
  node: SpeechConfig | undefined,
): SpeechConfig {
  if (!agent || !node) return node ?? agent ?? {};
  const isOther = (kind: 'recognition' | 'synthesis') => {
    const provider = node[kind]?.provider;
    return provider !== undefined && provider !== agent[kind]?.provider;
  };
  const { language, keyterms } = agent.recognition ?? {};
  const heard = isOther('recognition') ? { language, keyterms } : agent.recognition;
  return {
    recognition: { ...heard, ...node.recognition },
    synthesis: { ...(isOther('synthesis') ? {} : agent.synthesis), ...node.synthesis },
    languages: node.languages ?? agent.languages,
    voices: { ...agent.voices, ...node.voices },
    pronunciations: node.pronunciations ?? agent.pronunciations,
    noiseSuppression: node.noiseSuppression ?? agent.noiseSuppression,
    fallback: { ...agent.fallback, ...node.fallback },
  };
}

/** Whether every choice is left to the settings. */
export function isDefaultSpeech(config: SpeechConfig): boolean {
  return JSON.stringify(config) === '{}';
}
