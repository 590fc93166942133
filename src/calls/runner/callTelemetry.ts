import { type Span, type Tracer, traceLogFields } from '../../base/tracing.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { MediaReport } from '../../media/mediaSession.ts';
import { type Call, orderedAt } from '../call.ts';
import { callEvent, participantEvent, subjectOf } from '../callEvents.ts';
import type { CallMetrics, SetupPhase } from '../callMetrics.ts';
import { callPolicy } from '../callPolicy.ts';
import { maskNumber } from '../numbers/number.ts';
import type { Participant, ReportedAction } from '../participants/participant.ts';
import { type TransferReport, transferLiveEvent } from '../transfer/transferReport.ts';
import type { CallResult } from './callResult.ts';

export type LogFields = Readonly<Record<string, unknown>>;

export interface CallTelemetryDeps {
  readonly tracer: Tracer;
  readonly metrics: CallMetrics;
  /** Publishes live events; undefined when the service publishes none. */
  readonly liveEvents?: LiveEvents | undefined;
  readonly now: () => number;
  readonly log: (fields: LogFields, message: string, level?: 'info' | 'warn') => void;
}

/**
 * Spans, log lines, metrics and live events of one call on the node that runs it.
 *
 * ```
 * call    ├──────────────────────────────────────────────┤ accepted … ended
 * queued  ├────┤ accepted … first INVITE
 * dial         ├──────┤ each INVITE … its answer, or the next INVITE
 * talk                ├──────────────────────────────────┤ answered … ended; agent turns are siblings
 * ```
 */
export class CallTelemetry {
  readonly #deps: CallTelemetryDeps;
  readonly #call: Call;
  readonly #liveEvents: LiveEvents | undefined;
  readonly #attributes: Record<string, string>;
  readonly #startMs: number;
  readonly #span: Span;
  readonly #logFields: LogFields;
  /** The trunk of the last INVITE. */
  #trunkId: string | null;
  /** The Call-ID header. */
  #sipCallId: string | null;
  #phase: Span;
  /** The time of the first INVITE; NaN before it. */
  #invitedMs: number;
  #answeredMs = Number.NaN;
  #hasAgentAudio = false;
  /** The result of the last transfer. */
  #transfer: 'done' | 'failed' | undefined;

  constructor(deps: CallTelemetryDeps, call: Call) {
    const { id, projectId, sessionId, direction, fromNumber, toNumber, settings } = call;
    this.#deps = deps;
    this.#call = call;
    this.#liveEvents = callPolicy(call).publishesEvents ? deps.liveEvents : undefined;
    this.#trunkId = call.trunkId;
    this.#sipCallId = call.sipCallId;
    this.#attributes = { 'callway.call.id': id, 'callway.project.id': projectId, 'session.id': sessionId };
    this.#startMs = Date.parse(orderedAt(call)) || deps.now();
    this.#invitedMs = Date.parse(call.startedAt ?? '');
    this.#span = deps.tracer.startSpan('call', {
      kind: 'consumer',
      parent: settings.traceparent,
      startMs: this.#startMs,
      attributes: { ...this.#attributes, 'callway.call.direction': direction },
    });
    this.#phase = this.#startPhase(direction === 'outbound' ? 'queued' : 'ring', {}, this.#startMs);
    this.#logFields = {
      callId: id,
      projectId,
      sessionId,
      direction,
      from: maskNumber(fromNumber),
      to: maskNumber(toNumber),
      ...traceLogFields(this.traceparent),
    };
    deps.metrics.callStarted(direction);
  }

  /** The trace context of the call's span. */
  get traceparent(): string | undefined {
    return this.#span.traceparent;
  }

  dialing(trunkId: string, sipCallId: string): void {
    this.#trunkId = trunkId;
    this.#sipCallId = sipCallId;
    this.#nextPhase('dial', { 'callway.trunk.id': trunkId, 'callway.sip.call_id': sipCallId });
    if (Number.isNaN(this.#invitedMs)) {
      this.#invitedMs = this.#deps.now();
      this.#measure('accepted_to_invite', Date.parse(orderedAt(this.#call)), this.#invitedMs);
    }
    this.#deps.log({ ...this.#logFields, trunkId, sipCallId }, 'call dialing');
  }

  ringing(): void {
    this.#phase.setAttributes({ 'callway.ringing_after_ms': this.#deps.now() - this.#startMs });
    this.#publish('call.ringing');
  }

  answered(): void {
    this.#nextPhase('talk');
    this.#answeredMs = this.#deps.now();
    this.#measure('invite_to_answer', this.#invitedMs, this.#answeredMs);
    const via = { trunkId: this.#trunkId, sipCallId: this.#sipCallId };
    this.#deps.log({ ...this.#logFields, ...via }, 'call answered');
    this.#publish('call.answered');
  }

  /** Reports that the other party holds or resumes the call. */
  held(isHeld: boolean): void {
    this.#publish(isHeld ? 'call.held' : 'call.resumed');
  }

  /** A step of a transfer. @param isOver - No step follows. */
  transfer(report: TransferReport, isOver: boolean): void {
    const event = transferLiveEvent(report);
    if (event) this.#liveEvents?.publish({ ...event, ...subjectOf(this.#call) });
    if (!isOver) return;
    const { to, status, mode, by, outcome, reason } = report;
    this.#transfer = status === 'joined' ? 'done' : 'failed';
    const fields = { ...this.#logFields, target: maskNumber(to), mode, by, outcome, reason };
    if (status === 'joined') this.#deps.log(fields, 'call transferred');
    else this.#deps.log(fields, 'transfer failed', 'warn');
  }

  participant(what: ReportedAction, participant: Participant, reason?: string): void {
    this.#liveEvents?.publish(participantEvent(what, this.#call, participant, reason));
  }

  /** The first packet with the agent's audio was sent. */
  agentAudio(): void {
    if (this.#hasAgentAudio) return;
    this.#hasAgentAudio = true;
    this.#measure('answer_to_audio', this.#answeredMs, this.#deps.now());
  }

  ended({ status, endReason, sip, q850Cause }: CallResult, endedAt: string, media?: MediaReport): void {
    const { direction } = this.#call;
    const endMs = Date.parse(endedAt) || this.#deps.now();
    this.#phase.end(endMs);
    this.#span.setAttributes({
      'callway.call.status': status,
      'callway.call.end_reason': endReason ?? undefined,
      'callway.sip.status_code': sip?.code,
    });
    if (status === 'failed') this.#span.recordError(new Error(endReason ?? status));
    this.#span.end(endMs);
    this.#deps.metrics.callEnded(direction, { status, endReason, sip, q850Cause }, media);
    const talked = Number.isNaN(this.#answeredMs) ? 0 : Math.max(0, endMs - this.#answeredMs);
    const fields = {
      ...this.#logFields,
      status,
      endReason,
      durationMs: Math.round(talked),
      transfer: this.#transfer,
      sipCode: sip?.code,
    };
    this.#deps.log(fields, 'call ended', status === 'failed' ? 'warn' : 'info');
  }

  #publish(type: 'call.ringing' | 'call.answered' | 'call.held' | 'call.resumed'): void {
    this.#liveEvents?.publish(callEvent(type, { ...this.#call, trunkId: this.#trunkId }));
  }

  #nextPhase(name: string, attributes = {}): void {
    this.#phase.end(this.#deps.now());
    this.#phase = this.#startPhase(name, attributes, this.#deps.now());
  }

  #startPhase(name: string, attributes: Record<string, string>, startMs: number): Span {
    return this.#deps.tracer.startSpan(name, {
      parent: this.#span.traceparent,
      startMs,
      attributes: { ...this.#attributes, ...attributes },
    });
  }

  #measure(phase: SetupPhase, fromMs: number, toMs: number): void {
    if (Number.isNaN(fromMs)) return;
    this.#deps.metrics.setupPhase(phase, Math.max(0, toMs - fromMs) / 1000);
  }
}
