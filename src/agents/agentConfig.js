import { z } from 'zod';
import { headerList, targetUrl, variableName } from './fields.js';
export const webhookEventName = z.enum([
  'session.ended',
  'call.ended',
  'recording.ready',
  'session.finalized',
]);
/** What a webhook without `events` gets. */
export const DEFAULT_WEBHOOK_EVENTS = ['session.ended'];
const LONGEST_PROMPT = 100_000;
const LONGEST_BEFORE_START_MILLISECONDS = 15_000;
const timezone = z
  .string()
  .max(64)
  .refine(isIanaTimezone, 'must be an IANA time zone such as Asia/Taipei')
  .meta({ example: 'Asia/Taipei' });
const postSessionWebhook = z.strictObject({
  url: targetUrl.describe('HTTPS endpoint that takes POST with JSON.'),
  headers: headerList.optional(),
  events: z.array(webhookEventName).max(4).optional().describe('Default: session.ended.'),
});
const beforeStartConfig = z
  .strictObject({
    url: targetUrl,
    headers: headerList.optional(),
    timeoutMs: z.int().min(100).max(LONGEST_BEFORE_START_MILLISECONDS).optional(),
  })
  .describe('Asked for variables before the first turn.');
const postEvaluationConfig = z
  .strictObject({
    criteria: z
      .array(z.strictObject({ name: z.string().min(1).max(128), description: z.string().min(1).max(2000) }))
      .min(1)
      .max(50),
  })
  .describe('Judged by the model after the end; the result is in the history and in session.finalized.');
const placeholderMessages = z
  .record(
    z.string().regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'must be a language tag such as en'),
    z.array(z.string().min(1).max(500)).max(20),
  )
  .describe('Said when a tool takes over 1.2 s, by language.')
  .meta({ example: { en: ['One moment…'] } });
const variableConfig = z
  .strictObject({
    name: variableName,
    type: z.enum(['string', 'number', 'boolean', 'date', 'enum']),
    description: z.string().max(2000),
    values: z.array(z.string().min(1).max(200)).min(1).max(100).optional().describe('For enum.'),
    required: z.boolean().optional(),
  })
  .refine(({ type, values }) => (type === 'enum') === (values !== undefined), {
    path: ['values'],
    message: 'values belong to the type enum, which needs them',
  });
const fields = {
  name: z.string().min(1).max(128).describe('Display name.'),
  type: z
    .enum(['monolithic', 'skill'])
    .describe(
      'monolithic shows the model the whole pathway; skill shows the current node and its neighbours.',
    ),
  status: z.enum(['draft', 'published']).describe('draft freezes what callers get, until published again.'),
  globalPrompt: z.string().max(LONGEST_PROMPT).nullable().describe('Stands before every node’s prompt.'),
  executionMode: z.enum(['smart', 'turbo', 'balance']).nullable().describe('null is balance.'),
  timezone: timezone.nullable(),
  memoryEnabled: z.boolean().describe('Keep what was learnt of a customer for later sessions.'),
  beforeStartConfig: beforeStartConfig.nullable(),
  postSessionWebhook: postSessionWebhook.nullable(),
  postEvaluationConfig: postEvaluationConfig.nullable(),
  placeholderMessages: placeholderMessages.nullable(),
  variableConfigs: z
    .array(variableConfig)
    .max(100)
    .refine(
      (list) => new Set(list.map(({ name }) => name)).size === list.length,
      'must have names that differ',
    )
    .nullable()
    .describe('Variables that are drawn from the talk.'),
};
/** An agent's whole configuration. */
export const agentConfig = z.object(fields).meta({ id: 'Agent' });
/** What an update may hold; only what it names changes. */
export const agentConfigPatch = z.strictObject(fields).partial();
/** The agent that a new project gets. */
export function newAgentConfig(name) {
  return {
    name,
    type: 'monolithic',
    status: 'draft',
    globalPrompt: null,
    executionMode: null,
    timezone: null,
    memoryEnabled: false,
    beforeStartConfig: null,
    postSessionWebhook: null,
    postEvaluationConfig: null,
    placeholderMessages: null,
    variableConfigs: null,
  };
}
function isIanaTimezone(name) {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
