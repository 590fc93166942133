import { z } from 'zod';

import { milliseconds } from '../base/validation.ts';
import { releaseName } from '../base/values/releaseName.ts';

const time = z.iso.datetime();
const anyJson = z.unknown();

const call = {
  direction: z.enum(['inbound', 'outbound']),
  fromNumber: z.string().meta({ example: '+886223456789' }),
  toNumber: z.string().meta({ example: '+886912345678' }),
  trunkId: z.string().nullable().describe('The call’s current or last trunk.'),
  campaignId: z.string().optional().describe('The campaign that placed the call.'),
  contactId: z.string().optional(),
};

const alert = z.object({
  alertId: z.string(),
  name: z.string(),
  metric: z.string().meta({ example: 'success' }),
  value: z.number().nullable().describe('Null where there was nothing to measure.'),
  above: z.number().optional(),
  below: z.number().optional(),
  since: time.describe('When it began to fire.'),
});

const campaign = z.object({
  campaignId: z.string(),
  name: z.string(),
  statusReason: z.string().optional().describe('The reason of a status that no request has set.'),
});

const rollout = z.object({
  rolloutId: z.string(),
  release: z.int().describe('The new release.'),
  verdict: z.enum(['good', 'bad']).nullable().describe('Null where no figure has decided.'),
  figures: z.array(anyJson).describe('Of the guards, as in the decision of the rollout.'),
});

const turn = z
  .int()
  .min(1)
  .describe(
    'Number of the turn in its session. A turn that begins again, since the caller went on speaking, keeps its number: what it says replaces what was said of it before.',
  );
const heard = {
  nodeId: z.string().optional(),
  text: z.string().describe('What the person heard, or read.'),
  generatedText: z.string().optional().describe('The model’s whole text, where less of it was heard.'),
  latencyMs: milliseconds.optional().describe('From the person’s last word to the agent’s first.'),
  latencyParts: z.record(z.string(), z.union([z.number(), z.string()])).optional(),
  latencyDetails: z
    .record(z.string(), z.number())
    .optional()
    .describe('Shares of the parts: modelMs and toolMs of answerMs, sentenceMs of speechMs.'),
  speech: z.object({ recognition: z.string().optional(), synthesis: z.string().optional() }).optional(),
};

const transfer = { to: z.string().describe('A number, or a SIP URI.') };
const transferMode = z.enum(['blind', 'refer', 'warm']);

const participant = {
  participantId: z.string(),
  to: z.string().optional().describe('A number, or a SIP URI.'),
  muted: z.boolean().optional(),
  held: z.boolean().optional(),
};

export const liveEventData = {
  'call.queued': z.object(call).describe('An outbound call was accepted, or a scheduled one is due.'),
  'call.ringing': z.object(call).describe('The phone rings; an inbound call has arrived.'),
  'call.answered': z.object(call),
  'call.held': z.object(call).describe('The other party has put the call on hold.'),
  'call.resumed': z.object(call).describe('The other party is back from hold.'),
  'call.ended': z.object({
    ...call,
    status: z.string().meta({ example: 'completed' }),
    endReason: z.string().nullable(),
    durationMs: milliseconds.nullable().describe('From the answer to the end; 0 when unanswered.'),
    sip: z.object({ code: z.int(), reason: z.string() }).nullable(),
    violations: z
      .array(z.object({ kind: z.enum(['disclosure']), id: z.string() }))
      .describe('Disclosures that the person did not hear whole in time.'),
  }),
  'session.started': z.object({
    channel: z.enum(['chat', 'phone', 'web']),
    provider: z.string().nullable(),
    pathwayId: z.string(),
    pathwayVersion: z.int(),
    draft: z.boolean(),
  }),
  'session.ended': z.object({
    channel: z.enum(['chat', 'phone', 'web']),
    reason: z.string().meta({ example: 'end_node' }),
    missingVariables: z.array(z.string()).describe('Required variables without a value.'),
  }),
  'session.finalized': z
    .object({
      channel: z.enum(['chat', 'phone', 'web']),
      reason: z.string().meta({ example: 'end_node' }),
      startedAt: time,
      endedAt: time,
      evaluation: anyJson.optional().describe('As in the history; absent where nothing was evaluated.'),
      analysis: anyJson.optional().describe('As in the history; absent where the agent asks for none.'),
      usage: anyJson.describe('As in the history.'),
      cost: anyJson.describe('As in the history; null where there were no rates.'),
    })
    .describe('Recording, evaluation and webhooks of an ended session are done.'),
  'turn.started': z.object({
    turn,
    input: z.string().describe('What the agent answers.').meta({ example: 'user_message' }),
  }),
  'turn.user': z
    .object({
      turn,
      text: z.string(),
      input: z.enum(['words', 'dtmf']),
      speech: z.object({ recognition: z.string().optional() }).optional(),
    })
    .describe('What the person said, wrote or pressed.'),
  'turn.agent': z.object({ turn, ...heard, interrupted: z.boolean() }).describe('The agent’s answer.'),
  'turn.interrupted': z
    .object({ turn, ...heard, heardMs: milliseconds.optional(), stopMs: milliseconds.optional() })
    .describe('The caller has interrupted the agent; `turn.agent` follows.'),
  'transcript.interim': z
    .object({ text: z.string() })
    .describe('What the caller has said so far. It may still change, and is not repeated after a reconnect.'),
  'node.entered': z.object({ turn, nodeId: z.string(), title: z.string(), why: anyJson }),
  'tool.called': z.object({
    turn,
    name: z.string(),
    arguments: z.string().describe('JSON.'),
    by: z.string().describe('`model`, `pathway`, or `caller` for a tool of the client.'),
  }),
  'tool.finished': z.object({
    turn,
    name: z.string().nullable(),
    ok: z.boolean(),
    result: z.string(),
    status: z.int().optional().describe('Of the HTTP response.'),
    durationMs: milliseconds.optional(),
  }),
  'variable.set': z.object({ turn, name: z.string(), value: anyJson.optional(), source: z.string() }),
  'transfer.started': z.object({ ...transfer, mode: transferMode.optional() }),
  'transfer.accepted': z.object({ ...transfer, by: z.enum(['answer', 'digit', 'speech']) }),
  'transfer.refused': z.object({ ...transfer, reason: z.string() }),
  'transfer.joined': z.object({ ...transfer, mode: transferMode.optional() }).describe('Both talk.'),
  'transfer.failed': z.object({
    ...transfer,
    mode: transferMode.optional(),
    outcome: z.enum(['refused', 'busy', 'no_answer', 'failed']).optional(),
    reason: z.string(),
  }),
  'participant.joined': z.object(participant),
  'participant.left': z.object({ ...participant, reason: z.string().optional() }),
  'participant.changed': z.object(participant),
  'recording.ready': z.object({
    status: z.enum(['ready', 'failed']),
    durationMs: milliseconds.nullable(),
    recordingUrl: z.string().optional().describe('Signed, needs no key, lives for one hour.'),
    error: z.string().optional(),
  }),
  'trunk.changed': z.object({
    trunkId: z.string(),
    change: z.enum(['created', 'updated', 'deleted', 'health']),
    health: z
      .object({
        reachable: z.boolean().nullable(),
        registered: z.boolean().nullable(),
        lastOptionsMs: milliseconds.nullable(),
        error: z.string().nullable(),
      })
      .optional()
      .describe('Where it has changed.'),
  }),
  'provider.fallback': z
    .object({ kind: z.string(), from: z.string(), to: z.string(), reason: z.string() })
    .describe('A vendor of speech or chat was left for the next one.'),
  'alert.firing': alert.describe('A metric is beyond its bound.'),
  'alert.resolved': alert.describe('It is not any more, or the alert was disabled.'),
  'campaign.started': campaign,
  'campaign.paused': campaign,
  'campaign.resumed': campaign,
  'campaign.completed': campaign,
  'campaign.canceled': campaign,
  'rollout.started': rollout,
  'rollout.alert': rollout.describe('A guard has fired, or the release is good; the rollout goes on.'),
  'rollout.promoted': rollout,
  'rollout.rolled_back': rollout,
  'rollout.ended': rollout.describe('The agent was changed meanwhile.'),
  'contact.finished': z
    .object({
      campaignId: z.string(),
      contactId: z.string(),
      externalId: z.string().nullable(),
      outcome: z.string().meta({ example: 'answered' }),
      attempts: z.int(),
      callId: z.string().describe('Of the last attempt.'),
      disposition: z.string().optional().describe('What the analysis of the last attempt’s call says.'),
      data: z.record(z.string(), anyJson).optional().describe('The data of the analysis.'),
    })
    .describe(
      'A contact of a campaign is called no more: the last attempt has ended, and its call was analyzed where the agent asks for that.',
    ),
  'test.updated': z
    .object({
      testRunId: z.string(),
      status: z.string().describe('Of the run.').meta({ example: 'running' }),
      play: z
        .object({ number: z.int(), status: z.string(), sessionId: z.string().optional() })
        .optional()
        .describe('That has ended.'),
    })
    .describe('A test run has begun or ended, or one of its plays has ended.'),
} as const;

export type LiveEventType = keyof typeof liveEventData;
export type LiveEventData<Type extends LiveEventType> = z.infer<(typeof liveEventData)[Type]>;

export const LIVE_EVENT_TYPES = Object.keys(liveEventData) as [LiveEventType, ...LiveEventType[]];
export const liveEventType = z.enum(LIVE_EVENT_TYPES);

/** The type that is not stored: a stream that asks for it gets it while it is connected. */
export const INTERIM = 'transcript.interim' satisfies LiveEventType;

/** The project, session, call and release that an event belongs to. */
interface EventSubject {
  readonly projectId: string;
  readonly sessionId?: string | null | undefined;
  readonly callId?: string | null | undefined;
  /** The release that the session runs on; null for the working copy, undefined without a session. */
  readonly release?: number | null | undefined;
}

/** An event as it is published. */
export type NewLiveEvent = {
  readonly [Type in LiveEventType]: EventSubject & {
    readonly type: Type;
    readonly data: LiveEventData<Type>;
  };
}[LiveEventType];

const common = {
  id: z
    .string()
    .describe('In the order of events. A stream goes on after the one in `Last-Event-ID`.')
    .meta({ example: '1773480413589-0' }),
  at: time,
  projectId: z.string(),
  sessionId: z.string().optional(),
  callId: z.string().optional(),
  release: releaseName.optional().describe('The release that the session runs on.'),
  truncated: z.literal(true).optional().describe('Long texts were cut; the history has them whole.'),
};

/** An event as streams and webhooks carry it. */
export const liveEvent = z
  .union(
    LIVE_EVENT_TYPES.map((type) =>
      z.object({ ...common, type: z.literal(type), data: liveEventData[type] as z.ZodObject }),
    ),
  )
  .meta({ id: 'LiveEvent', description: 'Something that has happened; sent to the agent’s `eventWebhook`.' });
