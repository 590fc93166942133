import { z } from 'zod';

import { sessionCost } from '../agents/cost/rates.ts';
import { sessionUsage, toSessionUsage } from '../agents/cost/usage.ts';
import { milliseconds } from '../base/validation.ts';
import { releaseName, toReleaseName } from '../base/values/releaseName.ts';
import type { SessionSpending } from '../engine/history/historyStore.ts';
import { type Analysis, analysisResult } from '../engine/history/sessionResults.ts';
import {
  ANSWERING_MACHINE,
  CALL_END_REASONS,
  CALL_STATUSES,
  type Call,
  detectsAnsweringMachine,
  storedRecording,
  talkTimeMs,
  UNSUPERVISED,
  violationsOf,
} from './call.ts';
import type { TurnLatency } from './callStore.ts';
import { callMedia } from './numbers/callMedia.ts';
import type { RecordingUrls } from './recording/recordingUrls.ts';
import { callTransfer } from './transfer/transferReport.ts';

const time = z.iso.datetime().nullable();

/** @see Violation */
export const violation = z.object({
  kind: z.enum(['disclosure']),
  id: z.string().describe('The id of the disclosure.').meta({ example: 'recorded' }),
});

const recordingResource = z.object({
  status: z.enum(['recording', 'ready', 'failed']),
  startedAt: z.iso
    .datetime()
    .nullable()
    .describe('When its first sample was recorded; null before it is ready, and where that is not known.'),
  durationMs: milliseconds.nullable(),
  error: z.string().nullable(),
  url: z.string().optional().describe('Signed, needs no key, lives for one hour; once it is ready.'),
});

const mediaFigures = z.object({
  codec: z.string(),
  packetsReceived: z.int(),
  packetsLost: z.int().describe('Never played: lost on the way, too late, or shed.'),
  shed: z.int().describe('Arrived, and were dropped to reduce the delay, such as after a stall.'),
  concealedMs: milliseconds.describe('Audio made up in place of packets that were missing.'),
  underruns: z.int().describe('Times that the jitter buffer ran empty while the caller spoke.'),
  jitterMs: milliseconds,
  jitterBufferMs: milliseconds.describe(
    'How long the jitter buffer delays the caller now, or did at the end.',
  ),
  mos: z
    .number()
    .nullable()
    .describe('Estimate by the E-model, 1 to 4.5; null before anything was received.'),
});

/** A call in the API. */
export const callResource = z
  .object({
    id: z.uuid(),
    sessionId: z.string(),
    release: releaseName.describe('The release that the agent spoke with; `draft` for the working copy.'),
    direction: z.enum(['outbound', 'inbound']),
    status: z.enum(CALL_STATUSES),
    endReason: z.enum(CALL_END_REASONS).nullable(),
    fromNumber: z.string().meta({ example: '+886223456789' }),
    toNumber: z.string().meta({ example: '+886912345678' }),
    trunkId: z.uuid().nullable().describe('The call’s current or last trunk.'),
    sip: z
      .object({ code: z.int(), reason: z.string() })
      .nullable()
      .describe('The last SIP response.')
      .meta({ example: { code: 200, reason: 'OK' } }),
    q850Cause: z.int().nullable(),
    createdAt: z.iso.datetime().describe('When it was accepted.'),
    notBefore: time.describe('When a scheduled call is due; null for one that was placed at once.'),
    startedAt: time.describe('When the first INVITE went out, or came in.'),
    answeredAt: time,
    endedAt: time,
    durationMs: milliseconds
      .nullable()
      .describe('From the answer to the end; 0 when unanswered, null before the end.'),
    ringTimeoutSeconds: z.int(),
    maxDurationSeconds: z.int(),
    record: z.boolean(),
    media: callMedia.nullable().describe('Where the audio goes instead of to the agent.'),
    detectAnsweringMachine: z.boolean(),
    answeringMachine: z
      .enum(ANSWERING_MACHINE)
      .nullable()
      .describe('Who answered an outbound call; null before that, and where it is not detected.'),
    agentPaused: z.boolean().describe('Whether a supervisor has paused the agent of this call in progress.'),
    recordingPaused: z.boolean().describe('Whether the recording of this call in progress gets silence.'),
    supervisors: z.int().describe('Supervisors who are connected to this call in progress.'),
    metadata: z.record(z.string(), z.unknown()),
    externalId: z.string().nullable().describe('Your own id, from the order; null where it has none.'),
    campaignId: z.uuid().nullable().describe('The campaign that placed it; null for other calls.'),
    contactId: z.uuid().nullable().describe('The contact of the campaign.'),
    disposition: z
      .string()
      .nullable()
      .describe('What the analysis says; null where that chose none, and without one.'),
    success: z.boolean().nullable().describe('What the disposition says of it.'),
    analysis: analysisResult
      .nullable()
      .describe('null where the agent asks for none, and until it is done or skipped.'),
    violations: z
      .array(violation)
      .describe(
        'What the ended call lacked: the agent’s disclosures that the person did not hear whole in time. Empty for a call that was not answered.',
      ),
    dynamicVariables: z
      .record(z.string(), z.unknown())
      .describe(
        'The variables that the session began with: of the order, or of the called number and the INVITE’s headers.',
      ),
    mediaFigures: mediaFigures.nullable(),
    turnLatencyMs: z
      .object({ p50: milliseconds.nullable(), p95: milliseconds.nullable() })
      .describe('From the caller’s last word to the agent’s first; null before there was a turn.'),
    recording: recordingResource.nullable(),
    transfer: callTransfer.nullable().describe('The latest one; null before any.'),
    usage: sessionUsage,
    cost: sessionCost
      .nullable()
      .describe('Null before the end of its session, and where there were no rates.'),
  })
  .meta({ id: 'Call' });

export type CallResource = z.infer<typeof callResource>;

export function toCallResource(
  call: Call,
  latency: TurnLatency | undefined,
  spending: SessionSpending | undefined,
  analysis: Analysis | undefined,
  recordings: RecordingUrls,
): CallResource {
  const { ringTimeoutSeconds, maxDurationSeconds, record, media, dynamicVariables } = call.settings;
  return {
    id: call.id,
    sessionId: call.sessionId,
    release: toReleaseName(call.release),
    direction: call.direction,
    status: call.status,
    endReason: call.endReason,
    fromNumber: call.fromNumber,
    toNumber: call.toNumber,
    trunkId: call.trunkId,
    sip: call.sip,
    q850Cause: call.q850Cause,
    createdAt: call.createdAt,
    notBefore: call.notBefore,
    startedAt: call.startedAt,
    answeredAt: call.answeredAt,
    endedAt: call.endedAt,
    durationMs: talkTimeMs(call),
    ringTimeoutSeconds,
    maxDurationSeconds,
    record,
    media,
    detectAnsweringMachine: detectsAnsweringMachine(call),
    answeringMachine: call.answeringMachine,
    ...(call.status === 'in_progress' ? (call.supervision ?? UNSUPERVISED) : UNSUPERVISED),
    metadata: { ...call.metadata },
    externalId: call.externalId,
    campaignId: call.campaignId,
    contactId: call.contactId,
    disposition: analysis?.disposition ?? null,
    success: analysis?.success ?? null,
    analysis: analysis ?? null,
    violations: violationsOf(call),
    dynamicVariables: { ...dynamicVariables },
    mediaFigures: call.mediaQuality && { ...call.mediaQuality, mos: call.mediaQuality.mos ?? null },
    turnLatencyMs: { p50: latency?.p50 ?? null, p95: latency?.p95 ?? null },
    recording: toRecordingResource(call, recordings),
    transfer: call.transfer,
    usage: spending?.usage ?? toSessionUsage({}),
    cost: spending?.cost ?? null,
  };
}

function toRecordingResource(call: Call, recordings: RecordingUrls): CallResource['recording'] {
  if (call.recording === null) return null;
  const { status, startedAt = null, durationMs, error } = call.recording;
  const stored = storedRecording(call);
  const url = stored && recordings.sign(stored.key);
  return { status, startedAt, durationMs, error, url };
}
