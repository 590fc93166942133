import { type Call, isRecordingFinal, talkTimeMs } from '../calls/call.ts';
import type { CallRecordings } from '../calls/recording/callRecordings.ts';

/** What a session's webhooks tell of its call, as far as it is known now. */
export function callReport(call: Call, recordings: Pick<CallRecordings, 'url'>) {
  const { id, direction, fromNumber, toNumber, status, sip, endReason, recording } = call;
  const { traceparent } = call.settings;
  const told = { callId: id, direction, fromNumber, toNumber, status, durationMs: talkTimeMs(call), sip };
  const common = {
    call: told,
    ...(endReason === null ? {} : { endReason }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  if (recording === null || !isRecordingFinal(call)) return common;
  const isReady = recording.status === 'ready';
  const url = isReady && recording.key !== null ? recordings.url(recording.key) : undefined;
  return {
    ...common,
    recording: {
      status: isReady ? ('ready' as const) : ('failed' as const),
      ...(recording.durationMs === null ? {} : { durationMs: Math.round(recording.durationMs) }),
      ...(recording.error === null ? {} : { error: recording.error }),
    },
    ...(url === undefined ? {} : { recordingUrl: url }),
  };
}
