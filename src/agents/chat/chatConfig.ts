import { z } from 'zod';
import { CHAT_ENDPOINTS } from '../../models/ports/providerNames.ts';
import { text } from '../pathway/schema/fields.ts';

const MAX_NAME_CHARACTERS = 200;
const MAX_FALLBACKS = 4;
const MAX_OUTPUT_TOKENS = 100_000;

const name = text(1, MAX_NAME_CHARACTERS);

const choice = z.strictObject({
  model: name
    .optional()
    .describe('Default: the endpoint’s for the execution mode; the installation’s for its own endpoint.'),
  temperature: z.number().min(0).max(2).optional().describe('Of answers. Default: the model’s own.'),
  maxTokens: z.int().min(1).max(MAX_OUTPUT_TOKENS).optional().describe('The most that an answer has.'),
  reasoningEffort: z
    .enum(['none', 'minimal', 'low', 'medium', 'high'])
    .optional()
    .describe('For models that reason before they answer. Default: the model’s own.'),
  endpoint: z.enum(CHAT_ENDPOINTS).optional().describe('Default: the installation’s.'),
});

export const chat = choice
  .extend({
    fallback: z
      .array(z.union([name, choice]))
      .max(MAX_FALLBACKS)
      .optional()
      .describe(
        'Tried in order when the model fails or is slow before its first word: names of models, or the same fields. What an entry does not say is as above.',
      ),
  })
  .describe(
    'The model, in chats and on the phone. A node’s fields override the agent’s. What the client of a chat asks for goes before both. The project’s credentials for the endpoint go before the installation’s.',
  )
  .meta({ examples: [{ model: 'gpt-6.2-sol', temperature: 0.3, fallback: ['gpt-6-luna'] }] });

export type ChatConfig = z.infer<typeof chat>;
export type ChatChoice = z.infer<typeof choice>;

/** The agent's chat, with what the node overrides. A model belongs to its endpoint. */
export function chatOf(agent: ChatConfig | null | undefined, node: ChatConfig | undefined): ChatConfig {
  if (!agent || !node) return node ?? agent ?? {};
  return { ...(isOther(agent, node) ? withoutModel(agent) : agent), ...node };
}

/** Returns the choices in the order of preference. */
export function chatChoices({ fallback = [], ...first }: ChatConfig): readonly ChatChoice[] {
  return [
    first,
    ...fallback.map((entry) => {
      const given = typeof entry === 'string' ? { model: entry } : entry;
      return { ...(isOther(first, given) ? withoutModel(first) : first), ...given };
    }),
  ];
}

function isOther(base: ChatChoice, given: ChatChoice): boolean {
  return given.endpoint !== undefined && given.endpoint !== base.endpoint;
}

function withoutModel<Choice extends ChatChoice>({ model: _, ...rest }: Choice): Omit<Choice, 'model'> {
  return rest;
}
