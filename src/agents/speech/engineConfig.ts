import { z } from 'zod';
import { ENGINE_PROVIDERS } from '../../models/ports/providerNames.ts';
import { text } from '../pathway/schema/fields.ts';

const MAX_NAME_CHARACTERS = 200;

const name = text(1, MAX_NAME_CHARACTERS);

export const engine = z
  .strictObject({
    provider: z
      .enum(ENGINE_PROVIDERS)
      .describe('`custom` is a server of your own that speaks the protocol of `openai-realtime`.'),
    model: name.optional().describe('Default: the provider’s own.'),
    voice: name.optional().describe('The provider’s name of a voice. Default: the provider’s own.'),
  })
  .describe(
    'On the phone: the speech-to-speech model that hears the caller and speaks itself, in place of recognition, chat model and synthesis. These take over, in the middle of a call too, where it fails; null means them. A node’s engine replaces the agent’s. The project’s credentials for the provider go before the installation’s.',
  )
  .meta({ examples: [{ provider: 'openai-realtime', voice: 'marin' }] });

export type EngineConfig = z.infer<typeof engine>;

/** The node's, else the agent's; undefined for recognition, chat model and synthesis. @param node - Null for none. */
export function engineOf(
  agent: EngineConfig | null | undefined,
  node: EngineConfig | null | undefined,
): EngineConfig | undefined {
  return (node === undefined ? agent : node) ?? undefined;
}
