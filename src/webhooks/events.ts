import { z } from 'zod';
import { type WebhookEventName, webhookEventName } from '../agents/agentConfig.ts';
import { sessionCost } from '../agents/cost/rates.ts';
import { modelUsage, sessionUsage, toSessionUsage } from '../agents/cost/usage.ts';
import { releaseName } from '../base/values/releaseName.ts';
import { CALL_END_REASONS, CALL_STATUSES } from '../calls/call.ts';
import { violation } from '../calls/callResource.ts';
import { analysisResult, evaluationResult } from '../engine/history/sessionResults.ts';

/** The names in the order in which a session's events are sent. */
export const WEBHOOK_EVENT_NAMES = webhookEventName.options;

const durationMs = z.int().nonnegative();
const timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ description: 'ISO 8601, UTC, with milliseconds', examples: ['2026-03-14T09:26:53.589Z'] });

const anyFields = z.record(z.string(), z.unknown());

/** The call of a session, as known when the event is sent. */
export const webhookCallSchema = z.strictObject({
  callId: z.string(),
  direction: z.enum(['inbound', 'outbound']),
  fromNumber: z.string().meta({ examples: ['+886223456789'] }),
  toNumber: z.string().meta({ examples: ['+886912345678'] }),
  status: z.enum(CALL_STATUSES).meta({ description: 'In `session.ended` not always final' }),
  endReason: z
    .enum(CALL_END_REASONS)
    .nullable()
    .meta({ description: 'Why the call ended; null before its end, and where the status says it' }),
  durationMs: durationMs
    .nullable()
    .meta({ description: 'From the answer to the end; null while unknown, 0 when unanswered' }),
  sip: z
    .strictObject({ code: z.int().min(100).max(699), reason: z.string() })
    .nullable()
    .meta({
      description: 'The last SIP response, if any',
      examples: [{ code: 486, reason: 'Busy Here' }],
    }),
  answeringMachine: z
    .enum(['human', 'machine', 'screening', 'unknown'])
    .nullable()
    .meta({ description: 'Who answered an outbound call; null where it was not detected' }),
  metadata: anyFields.meta({ description: 'Of the order', examples: [{ order: 4711 }] }),
  externalId: z
    .string()
    .nullable()
    .meta({ description: 'Your own id, from the order; null where it has none', examples: ['order-4711'] }),
  campaignId: z
    .string()
    .nullable()
    .meta({ description: 'The campaign that placed the call; null for other calls' }),
  contactId: z.string().nullable().meta({ description: 'The contact of the campaign' }),
  violations: z.array(violation).meta({
    description: 'What the ended call lacked: disclosures that the person did not hear whole in time',
    examples: [[{ kind: 'disclosure', id: 'recorded' }]],
  }),
  dynamicVariables: anyFields.meta({
    description: 'What the session began with: of the order, or of the called number and its headers',
    examples: [{ customerName: 'Ada' }],
  }),
});

export const webhookRecordingSchema = z.strictObject({
  status: z.enum(['ready', 'failed']),
  durationMs: durationMs.optional(),
  error: z.string().optional().meta({ description: 'Why there is no recording, when `failed`' }),
});

const recordingUrl = z
  .url()
  .optional()
  .meta({ description: 'Signed, needs no key, lives for one hour; absent when there is no recording' });

const toolCallSchema = z.strictObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.strictObject({
    name: z.string(),
    arguments: z.string().meta({ description: 'JSON', examples: ['{"city":"Taipei"}'] }),
  }),
});

/** One message of the transcript, as in the session's history. */
const webhookMessageSchema = z.strictObject({
  role: z.enum(['user', 'assistant', 'tool']),
  content: z
    .string()
    .nullable()
    .meta({ description: 'The text as it was spoken or written; null for bare tool calls' }),
  at: timestamp,
  nodeId: z.string().optional(),
  tool_calls: z.array(toolCallSchema).optional(),
  tool_call_id: z.string().optional(),
  name: z.string().optional().meta({ description: 'The tool, on `tool` messages' }),
  latencyMs: z.number().nonnegative().optional(),
  latencyParts: z
    .record(z.string(), z.union([z.number(), z.string()]))
    .optional()
    .meta({
      description: 'The parts of latencyMs of a spoken answer, in milliseconds, and how its turn began',
    }),
  latencyDetails: z.record(z.string(), z.number()).optional().meta({
    description:
      'Shares of the parts: modelMs and toolMs of answerMs, sentenceMs of speechMs; in writing, of latencyMs',
  }),
  speech: z
    .strictObject({ recognition: z.string().optional(), synthesis: z.string().optional() })
    .optional()
    .meta({ description: 'The providers that recognized the caller’s words, or spoke the agent’s' }),
  spoken: z
    .strictObject({ from: timestamp, to: timestamp })
    .optional()
    .meta({ description: 'From the first sound to the last' }),
  interrupted: z.boolean().optional(),
  heard: z.enum(['estimated', 'reported']).optional().meta({
    description:
      'Set where the stream’s dialect does not report what was played: estimated, or reported by a client that truncated the answer',
  }),
  generatedText: z
    .string()
    .optional()
    .meta({ description: 'The model’s whole text, when less of it was heard' }),
  usage: z.array(modelUsage).optional().meta({ description: 'The tokens of the turn, by model' }),
});

const common = {
  sessionId: z.string().meta({ description: 'Identifies repeated deliveries, together with `event`' }),
  projectId: z.string(),
  release: releaseName.meta({
    description: 'The release that the session ran on; `draft` for the working copy',
    examples: [3],
  }),
  channel: z.enum(['chat', 'phone', 'web']),
  occurredAt: timestamp,
  deliveryId: z.string().meta({ description: 'As in the header `webhook-id`' }),
};

const example = {
  sessionId: '019cebdc-6f41-7c3e-9d55-0a6c1f0e7b21',
  projectId: '019ceb00-1d2e-7f00-8a4b-5c6d7e8f9a0b',
  release: 3,
  channel: 'phone',
  occurredAt: '2026-03-14T09:26:53.589Z',
  deliveryId: '019cebdc-9a10-7b44-8f3a-3b1f5f0c2d11',
};
const exampleCall = {
  callId: '019cebdb-0c55-7e21-b1d7-8d4e2c9f6a30',
  direction: 'outbound',
  fromNumber: '+886223456789',
  toNumber: '+886912345678',
  status: 'completed',
  endReason: 'caller_hangup',
  durationMs: 42_180,
  sip: { code: 200, reason: 'OK' },
  answeringMachine: 'human',
  campaignId: null,
  contactId: null,
  violations: [],
  metadata: { order: 4711 },
  externalId: 'order-4711',
  dynamicVariables: { customerName: 'Ada' },
};
const exampleUsage = toSessionUsage({
  'inputTokens/gpt-x': 1800,
  'outputTokens/gpt-x': 90,
  'cachedInputTokens/gpt-x': 1024,
  'recognitionMs/deepgram/nova-3': 42_000,
  'synthesisCharacters/elevenlabs': 310,
  callMs: 42_180,
});
const exampleCost = {
  total: 0.051412,
  chat: 0.002392,
  recognition: 0.00539,
  synthesis: 0.0155,
  carrier: 0.02813,
  afterwards: 0,
  currency: 'USD',
  unpriced: [],
};
const exampleRecording = { status: 'ready', durationMs: 42_160 };
const exampleRecordingUrl =
  'https://callway.example/recordings/019cebdb-0c55?expires=1773484013&signature=5c1e';

const sessionEndedSchema = z
  .strictObject({ event: z.literal('session.ended'), ...common, call: webhookCallSchema.optional() })
  .meta({
    id: 'WebhookSessionEnded',
    description: 'The conversation has ended. For calls, final status and duration may still be unknown.',
    examples: [
      {
        event: 'session.ended',
        ...example,
        call: { ...exampleCall, status: 'in_progress', endReason: null, durationMs: null },
      },
    ],
  });

const callEndedSchema = z
  .strictObject({ event: z.literal('call.ended'), ...common, call: webhookCallSchema })
  .meta({
    id: 'WebhookCallEnded',
    description: 'The call has ended, answered or not. Sessions with a call only.',
    examples: [{ event: 'call.ended', ...example, call: exampleCall }],
  });

const recordingReadySchema = z
  .strictObject({
    event: z.literal('recording.ready'),
    ...common,
    call: webhookCallSchema,
    recording: webhookRecordingSchema,
    recordingUrl,
  })
  .meta({
    id: 'WebhookRecordingReady',
    description: 'The recording of an answered call is stored, or has failed.',
    examples: [
      {
        event: 'recording.ready',
        ...example,
        call: exampleCall,
        recording: exampleRecording,
        recordingUrl: exampleRecordingUrl,
      },
    ],
  });

const sessionFinalizedSchema = z
  .strictObject({
    event: z.literal('session.finalized'),
    ...common,
    call: webhookCallSchema.optional(),
    status: z.string().meta({ description: 'How the session ended', examples: ['completed'] }),
    endReason: z
      .string()
      .optional()
      .meta({ examples: ['caller_hangup'] }),
    startedAt: timestamp,
    endedAt: timestamp,
    durationMs,
    messages: z.array(webhookMessageSchema).meta({ description: 'The transcript, in order' }),
    variables: z.record(z.string(), z.unknown()).meta({ description: 'By name; any JSON' }),
    missingVariables: z
      .array(z.string())
      .meta({ description: 'Names of the required variables without a value', examples: [['orderNumber']] }),
    evaluation: evaluationResult.optional(),
    analysis: analysisResult.optional().meta({
      description: 'Present where the agent has an `analysis`; skipped when it was not done in time',
    }),
    usage: sessionUsage,
    cost: sessionCost.nullable().meta({ description: 'Null where there were no rates' }),
    recording: webhookRecordingSchema.optional(),
    recordingUrl,
  })
  .meta({
    id: 'WebhookSessionFinalized',
    description: 'All data of the session; always the last event, and sent at most once.',
    examples: [
      {
        event: 'session.finalized',
        ...example,
        call: exampleCall,
        status: 'completed',
        endReason: 'caller_hangup',
        startedAt: '2026-03-14T09:26:11.402Z',
        endedAt: '2026-03-14T09:26:53.582Z',
        durationMs: 42_180,
        messages: [
          { role: 'assistant', content: 'Good morning.', at: '2026-03-14T09:26:11.990Z', nodeId: 'greeting' },
          { role: 'user', content: 'I would like a table for two.', at: '2026-03-14T09:26:15.020Z' },
        ],
        variables: { guests: 2 },
        missingVariables: [],
        evaluation: {
          criteria: [{ name: 'polite', passed: true, reason: 'Greeted and thanked the caller.' }],
        },
        analysis: {
          status: 'done',
          summary: 'The caller asked for a table for two.',
          disposition: 'booked',
          success: true,
          data: { guests: 2 },
          model: 'gpt-6-luna',
        },
        usage: exampleUsage,
        cost: exampleCost,
        recording: exampleRecording,
        recordingUrl: exampleRecordingUrl,
      },
    ],
  });

/** The body's schema of each event, for OpenAPI's `webhooks` and for validation. */
export const webhookBodySchemas = {
  'session.ended': sessionEndedSchema,
  'call.ended': callEndedSchema,
  'recording.ready': recordingReadySchema,
  'session.finalized': sessionFinalizedSchema,
} as const satisfies Record<WebhookEventName, z.ZodType>;

export const webhookBodySchema = z.discriminatedUnion('event', [
  sessionEndedSchema,
  callEndedSchema,
  recordingReadySchema,
  sessionFinalizedSchema,
]);
export type WebhookBody = z.infer<typeof webhookBodySchema>;
