import { noopTracer, type Span, type Tracer } from '../../base/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { ChatRequest } from '../../models/ports/chatModel.ts';
import type { LatencyDurations, NewSession } from '../session/session.ts';
import type { Delivered } from './delivery.ts';
import type { TurnRequest } from './turn.ts';

/** Span names of a spoken answer's latency, in the order in which the parts follow each other. */
const LATENCY_SPANS: readonly (readonly [keyof LatencyDurations, string])[] = [
  ['bufferMs', 'buffer'],
  ['endpointingMs', 'endpointing'],
  ['transcriptionMs', 'transcription'],
  ['answerMs', 'answer'],
  ['speechMs', 'first_audio'],
  ['playoutMs', 'playout'],
];

export interface TurnTraceDeps {
  readonly tracing?: Tracer | undefined;
  readonly clock: Clock;
}

export interface ModelSpan {
  /** Call for each event; the first one sets the time to the first token. */
  onEvent(): void;
  recordError(error: unknown): void;
  end(): void;
}

/** The span of one turn, with a child span for each model request and each part of a spoken answer's latency. */
export class TurnTrace {
  readonly #tracer: Tracer;
  readonly #clock: Clock;
  readonly #span: Span;
  readonly #beganAtMs: number;

  constructor({ tracing = noopTracer, clock }: TurnTraceDeps, session: NewSession, request: TurnRequest) {
    this.#tracer = tracing;
    this.#clock = clock;
    this.#beganAtMs = request.beganAtMs ?? clock.now();
    this.#span = tracing.startSpan('turn', {
      parent: session.traceparent,
      startMs: request.beganAtMs,
      attributes: {
        'callway.project.id': session.projectId,
        'session.id': session.sessionId,
        'callway.channel': session.channel,
        'callway.call.id': session.callId,
        'callway.turn.input': request.input.kind,
      },
    });
  }

  get traceparent(): string | undefined {
    return this.#span.traceparent;
  }

  /** @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/ */
  startModelSpan(provider: string, request: ChatRequest): ModelSpan {
    const beganMs = this.#clock.monotonicMs();
    const span = this.#tracer.startSpan(`chat ${request.model}`, {
      kind: 'client',
      parent: this.traceparent,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': provider,
        'gen_ai.request.model': request.model,
        'callway.purpose': request.purpose,
      },
    });
    let isFirst = true;
    return {
      onEvent: () => {
        if (!isFirst) return;
        isFirst = false;
        span.setAttributes({ 'callway.first_token_ms': Math.round(this.#clock.monotonicMs() - beganMs) });
      },
      recordError: (error) => span.recordError(error),
      end: () => span.end(),
    };
  }

  /** Records the parts of a spoken answer's latency as spans of the turn. */
  recordDelivery({ latencyMs, latencyParts, interrupted }: Delivered): void {
    let atMs = this.#beganAtMs;
    for (const [part, name] of latencyParts ? LATENCY_SPANS : []) {
      const durationMs = latencyParts?.[part] ?? 0;
      this.#tracer.startSpan(name, { parent: this.traceparent, startMs: atMs }).end(atMs + durationMs);
      atMs += durationMs;
    }
    this.#span.setAttributes({ 'callway.latency_ms': latencyMs, 'callway.interrupted': interrupted });
  }

  recordError(error: unknown): void {
    this.#span.recordError(error);
  }

  end(): void {
    this.#span.end();
  }
}
