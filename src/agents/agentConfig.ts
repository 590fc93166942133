import { z } from 'zod';
import { INTERIM, LIVE_EVENT_TYPES, liveEventType } from '../events/liveEvent.ts';
import type { HeaderEntry } from '../http/headers.ts';
import { LONGEST_SESSION_IDLE_MINUTES } from './accounts/project.ts';
import { analysisConfig } from './analysisConfig.ts';
import { chat } from './chat/chatConfig.ts';
import { disclosures } from './disclosures.ts';
import {
  headerList,
  languageTag,
  RESERVED_VARIABLES,
  shownHeaderList,
  targetUrl,
  timezone,
  variableName,
  withoutHeaderValues,
} from './fields.ts';
import { MAX_TEMPLATE_CHARACTERS } from './pathway/liquid.ts';
import { engine } from './speech/engineConfig.ts';
import { speech } from './speech/speechConfig.ts';
import { turnDetection } from './speech/turnDetection.ts';
import { transferTarget, transferTargets } from './transferTarget.ts';

export const webhookEventName = z.enum([
  'session.ended',
  'call.ended',
  'recording.ready',
  'session.finalized',
]);
export type WebhookEventName = z.infer<typeof webhookEventName>;

/** The events of a webhook without `events`. */
export const DEFAULT_WEBHOOK_EVENTS: readonly WebhookEventName[] = ['session.ended'];

const MAX_BEFORE_START_TIMEOUT_MS = 15_000;

const postSessionWebhook = z.strictObject({
  url: targetUrl.describe('HTTPS endpoint that accepts POST with JSON.'),
  headers: headerList.optional(),
  events: z
    .array(webhookEventName)
    .max(webhookEventName.options.length)
    .optional()
    .describe('Default: session.ended.'),
});

const eventWebhook = z
  .strictObject({
    url: targetUrl.describe('HTTPS endpoint that accepts POST with JSON.'),
    headers: headerList.optional(),
    events: z
      .array(liveEventType.exclude([INTERIM]))
      .min(1)
      .max(LIVE_EVENT_TYPES.length)
      .describe(`Types of live events; \`${INTERIM}\` is for streams only.`),
  })
  .describe(
    'Gets live events as they happen, each as the body of a POST: at least once, those of a session in order, repeated for up to an hour. The webhook of the agent that callers get counts, as it is now.',
  );

const beforeStartConfig = z
  .strictObject({
    url: targetUrl,
    headers: headerList.optional(),
    timeoutMs: z
      .int()
      .min(100)
      .max(MAX_BEFORE_START_TIMEOUT_MS)
      .optional()
      .describe('Default: 1500. A later answer is not waited for.'),
  })
  .describe(
    'Asked before a call is answered or dialed, and before the first turn of other sessions, with `{projectId, sessionId, channel, variables, call?}`. Answers `{variables?, greeting?, language?, nodeId?, reject?: {status}}`.',
  );

const criterion = z.strictObject({
  name: z.string().min(1).max(128),
  description: z.string().min(1).max(2000),
  type: z
    .enum(['boolean', 'score'])
    .optional()
    .describe('Default: boolean, met or not. score: from 1 (worst) to 5 (best).'),
});

const postEvaluationConfig = z
  .strictObject({
    criteria: z
      .array(criterion)
      .min(1)
      .max(50)
      .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, 'must have unique names'),
  })
  .describe(
    'The model evaluates each ended session by these criteria; the result is in the history and in session.finalized.',
  );

const placeholderMessages = z
  .record(languageTag, z.array(z.string().min(1).max(500)).max(20))
  .describe('Spoken when a tool takes longer than 1.2 s, by language; Liquid templates with the variables.')
  .meta({ example: { en: ['One moment…'] } });

const notUnderstood = z
  .strictObject({
    transferTo: transferTarget
      .optional()
      .describe('Where the call is transferred to: a number or a SIP URI. Default: the agent says goodbye.'),
  })
  .describe(
    'What happens with a caller who spoke three times in a row without a recognized word, where no edge `{event: not_understood}` and no fallback leaves the node. Before, the agent asks again twice, and names what can be said or pressed.',
  );

const optOut = z
  .strictObject({
    detect: z
      .boolean()
      .optional()
      .describe(
        'Default: true. Find by rule that the person wants no more calls, in English, Chinese, Spanish, German, French and Japanese, whatever the chat model.',
      ),
    confirm: z
      .string()
      .min(1)
      .max(MAX_TEMPLATE_CHARACTERS)
      .optional()
      .describe(
        'What the agent says then before the call ends, unless an edge `{event: opt_out}` leads on; a Liquid template with the variables. Default: a sentence in the language of the conversation.',
      ),
  })
  .describe(
    'What happens with a person on the phone who wants no more calls: the number is put on the project’s do-not-call list before a word is said. null means `{detect: true}`.',
  );

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
    message: 'values are required for the type enum, and allowed for no other',
  });

export const executionMode = z.enum(['smart', 'turbo', 'balance']);

const fields = {
  name: z.string().min(1).max(128).describe('Display name.'),
  type: z
    .enum(['monolithic', 'skill'])
    .describe(
      'monolithic gives the model the whole pathway; skill gives it the current node and its adjacent nodes.',
    ),
  status: z
    .enum(['draft', 'published'])
    .describe(
      'While draft, callers get the release that was published last; before the first publication edits are live.',
    ),
  globalPrompt: z
    .string()
    .max(MAX_TEMPLATE_CHARACTERS)
    .nullable()
    .describe('Precedes every node’s prompt; a Liquid template with the variables.'),
  executionMode: executionMode.nullable().describe('null means balance.'),
  timezone: timezone.nullable(),
  memoryEnabled: z.boolean().describe('Remember facts about a customer for later sessions.'),
  beforeStartConfig: beforeStartConfig.nullable(),
  postSessionWebhook: postSessionWebhook.nullable(),
  eventWebhook: eventWebhook.nullable(),
  postEvaluationConfig: postEvaluationConfig.nullable(),
  analysis: analysisConfig.nullable(),
  placeholderMessages: placeholderMessages.nullable(),
  transferTargets: transferTargets
    .nullable()
    .describe(
      'The only targets of transfers by the model, variables, the API and bots; null allows all that the project may call. A fixed target of a transfer node is always allowed.',
    ),
  notUnderstood: notUnderstood.nullable(),
  optOut: optOut.nullable(),
  disclosures: disclosures.nullable(),
  speech: speech.nullable(),
  turnDetection: turnDetection.nullable(),
  chat: chat.nullable(),
  engine: engine.nullable(),
  recording: z
    .strictObject({ inbound: z.boolean(), outbound: z.boolean() })
    .describe('Which calls are recorded, unless their number or the call itself says.'),
  variableConfigs: z
    .array(variableConfig)
    .max(100)
    .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, 'must have unique names')
    .nullable()
    .describe('Variables that the model extracts from the conversation.'),
  shareCallerNumber: z
    .boolean()
    .describe(
      'Whether the model is told the numbers of the call. Templates and tools have them in any case.',
    ),
  sessionIdleMinutes: z
    .int()
    .min(1)
    .max(LONGEST_SESSION_IDLE_MINUTES)
    .nullable()
    .describe(
      'A session without activity for this many minutes is ended. null means the project’s, and 60 for chats where the project has set none.',
    ),
};

/** An agent's configuration. */
const config = z.object(fields);
/** The agent in the API. */
export const agentConfig = config
  .extend({
    beforeStartConfig: beforeStartConfig.extend({ headers: shownHeaderList.optional() }).nullable(),
    postSessionWebhook: postSessionWebhook.extend({ headers: shownHeaderList.optional() }).nullable(),
    eventWebhook: eventWebhook.extend({ headers: shownHeaderList.optional() }).nullable(),
  })
  .meta({ id: 'Agent' });
/** An update: only the supplied fields change. */
export const agentConfigPatch = z
  .strictObject({
    ...fields,
    recording: fields.recording.partial(),
    variableConfigs: fields.variableConfigs.refine(
      (list) => !list?.some(({ name }) => RESERVED_VARIABLES.includes(name)),
      'must not name call or channel, which the service sets',
    ),
  })
  .partial();

export type AgentConfig = z.infer<typeof config>;
/** How an agent uses its models. */
export type ExecutionMode = z.infer<typeof executionMode>;
export type AgentConfigPatch = z.infer<typeof agentConfigPatch>;

/** The configuration without the values of headers. */
export function withoutSecrets(agent: AgentConfig): z.input<typeof agentConfig> {
  const hidden = <Config extends { headers?: readonly HeaderEntry[] | undefined }>(of: Config | null) =>
    of?.headers ? { ...of, headers: withoutHeaderValues(of.headers) } : of;
  const { beforeStartConfig, postSessionWebhook, eventWebhook } = agent;
  return {
    ...agent,
    beforeStartConfig: hidden(beforeStartConfig),
    postSessionWebhook: hidden(postSessionWebhook),
    eventWebhook: hidden(eventWebhook),
  };
}

/** Returns all texts of an agent that are rendered as templates, with their places. */
export function agentTemplates(
  agent: AgentConfigPatch,
): { readonly path: readonly PropertyKey[]; readonly template: string }[] {
  const prompt = agent.globalPrompt ? [{ path: ['globalPrompt'], template: agent.globalPrompt }] : [];
  const placeholders = Object.entries(agent.placeholderMessages ?? {}).flatMap(([language, messages]) =>
    messages.map((template, index) => ({ path: ['placeholderMessages', language, index], template })),
  );
  const confirm = agent.optOut?.confirm;
  const confirmation = confirm === undefined ? [] : [{ path: ['optOut', 'confirm'], template: confirm }];
  const disclosed = (agent.disclosures ?? []).map(({ text }, index) => ({
    path: ['disclosures', index, 'text'],
    template: text,
  }));
  return [...prompt, ...placeholders, ...confirmation, ...disclosed];
}

export function newAgentConfig(name: string): AgentConfig {
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
    eventWebhook: null,
    postEvaluationConfig: null,
    analysis: null,
    placeholderMessages: null,
    transferTargets: null,
    notUnderstood: null,
    optOut: null,
    disclosures: null,
    variableConfigs: null,
    shareCallerNumber: true,
    sessionIdleMinutes: null,
    speech: null,
    turnDetection: null,
    chat: null,
    engine: null,
    recording: { inbound: true, outbound: true },
  };
}

/** A stored configuration. Fields that a release adds have their defaults in the rows of the release before. */
export function completeAgentConfig(stored: AgentConfig): AgentConfig {
  return { ...newAgentConfig(stored.name), ...stored };
}
