import { z } from 'zod';

const MAX_VALUE_CHARACTERS = 255;

/** It asks for sessions without a value. */
const NONE = z.literal('');
const text = z.string().max(MAX_VALUE_CHARACTERS);
const id = z.uuid().toLowerCase();

/** What lists, insights, alerts and analyses filter sessions by, as a query string has it. An empty value finds those without one. */
export const sessionFilter = {
  release: z
    .string()
    .regex(/^(draft|[1-9]\d{0,8})$/, '{field} must be the number of a release, or draft')
    .optional()
    .describe('The release that the sessions ran on: its number, or `draft`.'),
  disposition: text
    .optional()
    .describe('The disposition that the analysis chose; empty for sessions without one.'),
  success: z
    .enum(['true', 'false'])
    .optional()
    .describe('Whether the disposition is a success; without it, also those that say nothing.'),
  channel: z.enum(['chat', 'phone', 'web']).optional(),
  direction: z
    .enum(['inbound', 'outbound', ''])
    .optional()
    .describe('The direction of the session’s call; empty for sessions without a call.'),
  endReason: text
    .optional()
    .describe(
      'Of a call its `endReason`, or where it has none its status, such as `no_answer`; of another session why it ended, such as `idle`.',
    ),
  trunkId: z.union([id, NONE]).optional().describe('Empty for sessions on no trunk.'),
  campaignId: z.union([id, NONE]).optional().describe('Empty for sessions of no campaign.'),
  agentId: text.optional(),
  language: text
    .optional()
    .describe('The language of the conversation at its end, as it is configured or was spoken: `en-US`.'),
  node: text
    .optional()
    .describe('The id of the node at which the session ended; empty for those that entered none.'),
  provider: text.optional().describe('The label of the session; empty for those without one.'),
};

/** The same in a body, where a release may be a number and success a boolean. */
export const sessionFilterBody = {
  ...sessionFilter,
  release: z.union([z.int().min(1), sessionFilter.release]).optional(),
  success: z.union([z.boolean(), sessionFilter.success]).optional(),
};

type FilterName = keyof typeof sessionFilter;

/** Sessions by what they must have, as text; what is absent is not asked for. */
export type SessionFilter = Readonly<Partial<Record<FilterName, string>>>;

/** Returns a filter whose values are text. @param given - It has the fields of {@link sessionFilter} or {@link sessionFilterBody}. */
export function toSessionFilter(
  given: Readonly<Partial<Record<FilterName, string | number | boolean | undefined>>>,
): SessionFilter {
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known.map(([name, value]) => [name, String(value)]));
}
