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
];
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
];
export const DEFAULT_RING_TIMEOUT_SECONDS = 45;
export const DEFAULT_MAX_DURATION_SECONDS = 3600;
/** Nothing follows these. */
export const FINAL_STATUSES = ['completed', 'busy', 'no_answer', 'failed', 'canceled'];
export const isFinal = (status) => FINAL_STATUSES.includes(status);
/** From the answer to the end, in ms; 0 where nobody answered, null while it is not known. */
export function talkedMs({ status, answeredAt, endedAt }) {
  if (!isFinal(status)) return null;
  if (answeredAt === null || endedAt === null) return 0;
  return Math.max(0, Date.parse(endedAt) - Date.parse(answeredAt));
}
/** The number of the person at the other end. */
export function customerNumber({ direction, fromNumber, toNumber }) {
  return direction === 'inbound' ? fromNumber : toNumber;
}
/** Whether a recording is to come of it: only an answered call has one. */
export function isRecorded({ answeredAt, settings }) {
  return answeredAt !== null && settings.record;
}
/** Whether what became of its recording is known. */
export function isRecordingClosed({ recording }) {
  return recording !== null && recording.status !== 'recording';
}
