import { type Span, type Tracer, traceLogFields } from '../../base/tracing.ts';
import type { Call } from '../call.ts';
import type { CallResult } from './callResult.ts';

type Facts = Readonly<Record<string, unknown>>;

/** Follows one call on the node that carries it: as a span with its stretches, and as lines of the log. */
export interface CallTelemetry {
  /** Of the call, for whoever talks with it. */
  readonly traceparent: string | undefined;
  dialing(trunkId: string, sipCallId: string): void;
  ringing(): void;
  answered(): void;
  ended(result: CallResult, endedAt: string): void;
}

export interface CallTelemetryDeps {
  readonly tracing: Tracer;
  readonly now: () => number;
  /** A step of the call; the fields name it. */
  readonly log: (fields: Facts, step: string) => void;
}

/**
 * ```
 * call    ├──────────────────────────────────────────────┤ accepted … over
 * queued  ├────┤ accepted … the first INVITE
 * dial         ├──────┤ each INVITE … its answer, or the next one
 * talk                ├──────────────────────────────────┤ answered … over; the turns lie in the call beside it
 * ```
 */
export function createCallTelemetry({ tracing, now, log }: CallTelemetryDeps, call: Call): CallTelemetry {
  const { id, projectId, sessionId, direction, settings, createdAt } = call;
  const names = { 'callway.call.id': id, 'callway.project.id': projectId, 'session.id': sessionId };
  const startMs = Date.parse(createdAt) || now();
  const whole = tracing.startSpan('call', {
    kind: 'consumer',
    parent: settings.traceparent,
    startMs,
    attributes: { ...names, 'callway.call.direction': direction },
  });
  const part = (name: string, attributes = {}, fromMs = now()): Span =>
    tracing.startSpan(name, {
      parent: whole.traceparent,
      startMs: fromMs,
      attributes: { ...names, ...attributes },
    });
  let stretch: Span = part(direction === 'outbound' ? 'queued' : 'ring', {}, startMs);
  const next = (name: string, attributes = {}) => {
    stretch.end(now());
    stretch = part(name, attributes);
  };
  const fields = { callId: id, projectId, sessionId, ...traceLogFields(whole.traceparent) };

  return {
    traceparent: whole.traceparent,
    dialing(trunkId, sipCallId) {
      next('dial', { 'callway.trunk.id': trunkId, 'callway.sip.call_id': sipCallId });
      log({ ...fields, trunkId, sipCallId }, 'a call is dialled');
    },
    ringing: () => stretch.setAttributes({ 'callway.ringing_after_ms': now() - startMs }),
    answered() {
      next('talk');
      log(fields, 'a call is answered');
    },
    ended({ status, endReason, sip }, endedAt) {
      const endMs = Date.parse(endedAt) || now();
      stretch.end(endMs);
      whole.setAttributes({
        'callway.call.status': status,
        'callway.call.end_reason': endReason ?? undefined,
        'callway.sip.status_code': sip?.code,
      });
      if (status === 'failed') whole.recordError(new Error(endReason ?? status));
      whole.end(endMs);
      log({ ...fields, status, endReason, ...(sip ? { sipCode: sip.code } : {}) }, 'a call is over');
    },
  };
}
