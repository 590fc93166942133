import type { MediaQuality } from '../media/quality/mediaQuality.ts';
import type { CallMedia } from './numbers/phoneNumber.ts';

export const CALL_STATUSES = [
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
  'api_hangup',
  'transferred',
  'max_duration',
  'media_timeout',
  'declined',
  'unreachable',
  'invalid_number',
  'rejected',
  'trunk_error',
  'node_lost',
] as const;
export type CallEndReason = (typeof CALL_END_REASONS)[number];

export type CallDirection = 'outbound' | 'inbound';

/** One phone call, as it is kept. Times ISO 8601 in UTC. */
export interface Call {
  readonly id: string;
  readonly projectId: string;
  readonly sessionId: string;
  /** The session's life that this call is. */
  readonly instanceId: string;
  readonly direction: CallDirection;
  readonly status: CallStatus;
  readonly endReason: CallEndReason | null;
  /** In the product's normal form. */
  readonly fromNumber: string;
  readonly toNumber: string;
  readonly trunkId: string | null;
  readonly sipCallId: string | null;
  readonly sip: { readonly code: number; readonly reason: string } | null;
  readonly q850Cause: number | null;
  readonly settings: CallSettings;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** When it was accepted. */
  readonly createdAt: string;
  /** When the first INVITE went out, or came in. */
  readonly startedAt: string | null;
  readonly answeredAt: string | null;
  readonly endedAt: string | null;
  readonly figures: MediaQuality | null;
  readonly recording: RecordingResult | null;
  /** The node that carries it; null while it is queued. */
  readonly nodeId: string | null;
  /** Set by the API while the call lives: whoever carries it obeys. */
  readonly hangupRequested: boolean;
}

export interface CallSettings {
  readonly ringTimeoutSeconds: number;
  readonly maxDurationSeconds: number;
  readonly record: boolean;
  readonly media: CallMedia | null;
  /** The trace that it belongs to; absent where nobody traces. */
  readonly traceparent?: string;
  /** The numbers as they were asked for, for trunks that write them as given; absent where nobody asked. */
  readonly asGiven?: { readonly fromNumber: string; readonly toNumber: string };
}

/** What changes in a call's life. */
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
    | 'figures'
    | 'recording'
  >
>;

export interface RecordingResult {
  readonly status: 'recording' | 'ready' | 'failed';
  /** Its name in the recording store; null where nothing was kept. */
  readonly key: string | null;
  readonly durationMs: number | null;
  readonly error: string | null;
}

export const DEFAULT_RING_TIMEOUT_SECONDS = 45;
export const DEFAULT_MAX_DURATION_SECONDS = 3600;

/** Nothing follows these. */
export const FINAL_STATUSES: readonly CallStatus[] = ['completed', 'busy', 'no_answer', 'failed', 'canceled'];
export const isFinal = (status: CallStatus): boolean => FINAL_STATUSES.includes(status);

/** From the answer to the end, in ms; 0 where nobody answered, null while it is not known. */
export function talkTimeMs({ status, answeredAt, endedAt }: Call): number | null {
  if (!isFinal(status)) return null;
  if (answeredAt === null || endedAt === null) return 0;
  return Math.max(0, Date.parse(endedAt) - Date.parse(answeredAt));
}

/** The project's own number in the call. */
export function projectNumber({ direction, fromNumber, toNumber }: Call): string {
  return direction === 'inbound' ? toNumber : fromNumber;
}

/** The number of the person at the other end. */
export function customerNumber({ direction, fromNumber, toNumber }: Call): string {
  return direction === 'inbound' ? fromNumber : toNumber;
}

/** Whether a recording is to come of it: only an answered call has one. */
export function expectsRecording({ answeredAt, settings }: Pick<Call, 'answeredAt' | 'settings'>): boolean {
  return answeredAt !== null && settings.record;
}

/** Whether what became of its recording is known. */
export function isRecordingFinal({ recording }: Call): boolean {
  return recording !== null && recording.status !== 'recording';
}
