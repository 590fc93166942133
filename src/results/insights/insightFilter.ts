import { z } from 'zod';

const MAX_VALUE_CHARACTERS = 255;

const text = z.string().min(1).max(MAX_VALUE_CHARACTERS);

/** What insights, and alerts, filter sessions by. */
export const insightFilter = {
  release: z
    .string()
    .regex(/^(draft|[1-9]\d{0,8})$/, '{field} must be the number of a release, or draft')
    .optional()
    .describe('The release that the sessions ran on: its number, or `draft`.'),
  disposition: text.optional(),
  success: z.enum(['true', 'false']).optional().describe('What the disposition says.'),
  channel: z.enum(['chat', 'phone', 'web']).optional(),
  direction: z.enum(['inbound', 'outbound']).optional(),
  endReason: text
    .optional()
    .describe(
      'Of a call its `endReason`, or where it has none its status, such as `no_answer`; of another session why it ended, such as `idle`.',
    ),
  trunkId: text.optional(),
  campaignId: text.optional(),
  agentId: text.optional(),
  language: text
    .optional()
    .describe('The language of the conversation at its end, as it is configured or was spoken: `en-US`.'),
};
