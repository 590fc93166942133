import type { z } from 'zod';

import { type Call, isRecordingFinal, talkTimeMs, violationsOf } from '../calls/call.ts';
import type { CallRecordings } from '../calls/recording/callRecordings.ts';
import type { webhookCallSchema, webhookRecordingSchema } from './events.ts';

/** The part of a session's webhooks that is about its call, as far as it is known. */
export interface CallReport {
  readonly call: z.infer<typeof webhookCallSchema>;
  /** The end reason; undefined before the call has ended. */
  readonly endReason?: string;
  readonly recording?: z.infer<typeof webhookRecordingSchema>;
  /** Signed anew for each report, since it is valid for an hour. */
  readonly recordingUrl?: string;
  /** The W3C `traceparent` of the call's span. */
  readonly traceparent?: string;
}

export function callReport(call: Call, recordings: CallRecordings): CallReport {
  const { id, direction, fromNumber, toNumber, status, sip, endReason, recording } = call;
  const { answeringMachine, metadata, externalId, campaignId, contactId } = call;
  const { traceparent, dynamicVariables = {} } = call.settings;
  const common = {
    call: {
      callId: id,
      direction,
      fromNumber,
      toNumber,
      status,
      endReason,
      durationMs: talkTimeMs(call),
      sip,
      answeringMachine,
      metadata: { ...metadata },
      externalId,
      campaignId,
      contactId,
      violations: violationsOf(call),
      dynamicVariables: { ...dynamicVariables },
    },
    endReason: endReason ?? undefined,
    traceparent,
  };
  if (recording === null || !isRecordingFinal(call)) return common;
  const isReady = recording.status === 'ready';
  return {
    ...common,
    recording: {
      status: isReady ? 'ready' : 'failed',
      durationMs: recording.durationMs === null ? undefined : Math.round(recording.durationMs),
      error: recording.error ?? undefined,
    },
    recordingUrl: isReady && recording.key !== null ? recordings.url(recording.key) : undefined,
  };
}
