import type { DueDisclosure } from '../agents/disclosures.ts';
import type { CallFacts } from '../engine/session/session.ts';
import type { MediaQuality } from '../media/mediaQuality.ts';
import type { MediaSamples } from '../media/mediaSamples.ts';
import type { CallMedia } from './numbers/callMedia.ts';
import type { CallTransfer } from './transfer/transferReport.ts';

export const CALL_STATUSES = [
  'scheduled',
  'queued',
  'dialing',
  'ringing',
  'in_progress',
  'completed',
  'busy',
  'no_answer',
  'failed',
  'canceled',
] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];

export const CALL_END_REASONS = [
  'caller_hangup',
  'agent_hangup',
  'agent_error',
  'not_understood',
  'api_hangup',
  'transferred',
  'max_duration',
  'media_timeout',
  'declined',
  'unreachable',
  'invalid_number',
  'rejected',
  'trunk_error',
  'number_already_queued',
  'rescheduled',
  'do_not_call',
  'outside_calling_hours',
  'campaign_stopped',
  'node_lost',
] as const;
export type CallEndReason = (typeof CALL_END_REASONS)[number];

/** The possible results of answering machine detection. */
export const ANSWERING_MACHINE = ['human', 'machine', 'screening', 'unknown'] as const;
export type AnsweringMachine = (typeof ANSWERING_MACHINE)[number];

export type CallDirection = 'outbound' | 'inbound';

/** A phone call, as stored. Times are ISO 8601 in UTC. */
export interface Call {
  readonly id: string;
  readonly projectId: string;
  readonly sessionId: string;
  /** The instance of the session: a session id may be used again once its session has ended. */
  readonly instanceId: string;
  /** The number of the release that the session runs on; null for the working copy. */
  readonly release: number | null;
  readonly direction: CallDirection;
  readonly status: CallStatus;
  readonly endReason: CallEndReason | null;
  /** The number in normal form. @see normalizeNumber */
  readonly fromNumber: string;
  readonly toNumber: string;
  readonly trunkId: string | null;
  readonly sipCallId: string | null;
  readonly sip: { readonly code: number; readonly reason: string } | null;
  readonly q850Cause: number | null;
  readonly settings: CallSettings;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The API client's own id of the order, not unique; null when the order has none. */
  readonly externalId: string | null;
  /** The time at which the API accepted the call or its INVITE arrived. */
  readonly createdAt: string;
  /** The time at which the call is due; null for a call that was not scheduled. */
  readonly notBefore: string | null;
  /** The time at which the first INVITE was sent or received. */
  readonly startedAt: string | null;
  readonly answeredAt: string | null;
  readonly endedAt: string | null;
  readonly mediaQuality: MediaQuality | null;
  readonly recording: RecordingResult | null;
  /**
   * The result of answering machine detection for an outbound call; null while it is unknown or when there is no
   * detection.
   */
  readonly answeringMachine: AnsweringMachine | null;
  /** The supervision of the call; null before the first supervisor. */
  readonly supervision: Supervision | null;
  /** The node that runs it; null while it is queued. */
  readonly nodeId: string | null;
  /** The API sets this; the node that runs the call then hangs up. */
  readonly hangupRequested: boolean;
  /** The latest one; null before any. */
  readonly transfer: CallTransfer | null;
  /** The campaign and its contact that the call was placed for; null for other calls. */
  readonly campaignId: string | null;
  readonly contactId: string | null;
  /** What the person has not heard whole in time: at first all of the agent's disclosures for this call. */
  readonly disclosures: readonly DueDisclosure[];
  /** True for a call of a simulated caller. It uses no trunk and counts towards no limit. */
  readonly isTest: boolean;
  /** Orders the waiting calls of a project: those with a lower one are dialed first. Orders by API have 0. */
  readonly priority: number;
}

/** The supervisors of a call in progress. */
export interface Supervision {
  readonly agentPaused: boolean;
  readonly recordingPaused: boolean;
  /** The number of connected supervisors. */
  readonly supervisors: number;
}

export const UNSUPERVISED: Supervision = { agentPaused: false, recordingPaused: false, supervisors: 0 };

interface CallSettings {
  readonly ringTimeoutSeconds: number;
  readonly maxDurationSeconds: number;
  readonly record: boolean;
  readonly media: CallMedia | null;
  /** The session's first variables. They come from the order, or from the called number and the INVITE's headers. */
  readonly dynamicVariables?: Readonly<Record<string, unknown>>;
  /** True to detect answering machines. Default: true for outbound calls. */
  readonly detectAnsweringMachine?: boolean;
  /** The setting of the project's number; undefined when the agent decides. */
  readonly noiseSuppression?: boolean;
  /** The trace that the call belongs to; absent without tracing. */
  readonly traceparent?: string;
  /** True when a session's `schedule_callback` tool has ordered the call. */
  readonly isCallback?: boolean;
  /** The numbers as requested, for trunks with the number format `as_given`; absent for inbound calls. */
  readonly asGiven?: { readonly fromNumber: string; readonly toNumber: string };
}

/** A leg that the project pays for. */
export interface BilledLeg {
  /** A number, or a SIP URI. */
  readonly to: string;
  readonly talkTimeMs: number;
}

/** The fields that change during a call. */
export type CallChange = Partial<
  Pick<
    Call,
    | 'status'
    | 'endReason'
    | 'trunkId'
    | 'sipCallId'
    | 'sip'
    | 'q850Cause'
    | 'startedAt'
    | 'answeredAt'
    | 'endedAt'
    | 'mediaQuality'
    | 'recording'
    | 'transfer'
    | 'supervision'
    | 'disclosures'
  > & { readonly mediaSamples: MediaSamples; readonly legs: readonly BilledLeg[] }
>;

export interface RecordingResult {
  readonly status: 'recording' | 'ready' | 'failed';
  /** Key in the recording store; null when nothing was stored. */
  readonly key: string | null;
  readonly durationMs: number | null;
  /** The size of the stored file. */
  readonly bytes?: number;
  /** The time of the first sample, ISO 8601; undefined when it is not known. */
  readonly startedAt?: string;
  readonly error: string | null;
}

/** The recording of an answered call until its file is stored. */
export const RECORDING_RUNS: RecordingResult = {
  status: 'recording',
  key: null,
  durationMs: null,
  error: null,
};

export const DEFAULT_RING_TIMEOUT_SECONDS = 45;
export const DEFAULT_MAX_DURATION_SECONDS = 3600;

export const FINAL_STATUSES = ['completed', 'busy', 'no_answer', 'failed', 'canceled'] as const;
/** A call with one of these statuses has ended. */
export type FinalStatus = (typeof FINAL_STATUSES)[number];

export const isFinal = (status: CallStatus): status is FinalStatus =>
  (FINAL_STATUSES as readonly CallStatus[]).includes(status);

type NewCall = Pick<
  Call,
  | 'id'
  | 'projectId'
  | 'sessionId'
  | 'instanceId'
  | 'direction'
  | 'status'
  | 'fromNumber'
  | 'toNumber'
  | 'settings'
  | 'createdAt'
> &
  Partial<Call>;

/** A call as first stored: what is not given is not known yet. */
export function newCall(fields: NewCall): Call {
  return {
    release: null,
    endReason: null,
    trunkId: null,
    sipCallId: null,
    sip: null,
    q850Cause: null,
    metadata: {},
    externalId: null,
    notBefore: null,
    startedAt: null,
    answeredAt: null,
    endedAt: null,
    mediaQuality: null,
    recording: null,
    answeringMachine: null,
    supervision: null,
    nodeId: null,
    hangupRequested: false,
    transfer: null,
    campaignId: null,
    contactId: null,
    disclosures: [],
    isTest: false,
    priority: 0,
    ...fields,
  };
}

/** Returns the time from the answer to the end, in ms; 0 for an unanswered call, null before the end. */
export function talkTimeMs({ status, answeredAt, endedAt }: Call): number | null {
  if (!isFinal(status)) return null;
  if (answeredAt === null || endedAt === null) return 0;
  return Math.max(0, Date.parse(endedAt) - Date.parse(answeredAt));
}

/** What a call lacked by law or by the agent's configuration. */
export interface Violation {
  readonly kind: 'disclosure';
  readonly id: string;
}

/** Returns the violations of an ended call: the disclosures that the person who answered did not hear whole in time. */
export function violationsOf({ status, answeredAt, answeringMachine, disclosures }: Call): Violation[] {
  if (!isFinal(status) || answeredAt === null) return [];
  const owed = disclosures.filter(({ machines }) => machines || answeringMachine !== 'machine');
  return owed.map(({ id }) => ({ kind: 'disclosure', id }));
}

export type CallKey = Pick<Call, 'id' | 'projectId'>;

/** Returns the time at which the call was due: its scheduled time, or its creation. */
export function orderedAt({ createdAt, notBefore }: Call): string {
  return notBefore ?? createdAt;
}

/** The project's own number in the call. */
export function projectNumber({ direction, fromNumber, toNumber }: Call): string {
  return direction === 'inbound' ? toNumber : fromNumber;
}

/** The other party's number. */
export function customerNumber({ direction, fromNumber, toNumber }: Call): string {
  return direction === 'inbound' ? fromNumber : toNumber;
}

/** Returns the facts of the call that its session knows. */
export function callFacts({ id, direction, fromNumber, toNumber, trunkId }: Call): CallFacts {
  return { direction, fromNumber, toNumber, callId: id, trunkId };
}

/** Returns true when the call has a recording, now or later. Only answered calls have one. */
export function expectsRecording({ answeredAt, settings }: Call): boolean {
  return answeredAt !== null && settings.record;
}

/** Returns true when answering machine detection is on. Only our agents have it, not a customer's own bot. */
export function detectsAnsweringMachine({ direction, settings }: Call): boolean {
  const { detectAnsweringMachine = true, media } = settings;
  return direction === 'outbound' && media === null && detectAnsweringMachine;
}

/** The recording, once it can be read. */
export function storedRecording({
  recording,
}: Call): (RecordingResult & { readonly key: string }) | undefined {
  if (recording?.status !== 'ready' || recording.key === null) return undefined;
  return { ...recording, key: recording.key };
}

/** Returns true when the recording is stored or has failed. */
export function isRecordingFinal({ recording }: Call): boolean {
  return recording !== null && recording.status !== 'recording';
}
