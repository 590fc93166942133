import type { Clock } from '../../base/clock.ts';
import { noopTracer, type Span, type Tracer } from '../../base/tracing.ts';
import type { ChatModel } from '../../providers/ports/chatModel.ts';
import type { LatencyParts, NewSession } from '../session/session.ts';
import type { Delivered, SpokenDelivery } from './delivery.ts';
import type { TurnRequest } from './turn.ts';
import type { TurnContext } from './turnContext.ts';

/** What the parts of a spoken answer are called in a trace, in the order in which they follow each other. */
const PARTS: readonly (readonly [keyof LatencyParts, string])[] = [
  ['bufferMs', 'buffer'],
  ['endpointingMs', 'endpointing'],
  ['transcriptionMs', 'transcription'],
  ['answerMs', 'answer'],
  ['speechMs', 'first_audio'],
  ['playoutMs', 'playout'],
];

export interface TurnTraceDeps {
  readonly tracing: Tracer;
  readonly clock: Clock;
}

/** The span of one turn, however often the turn is begun. */
export interface TurnTrace {
  /** The first time counts. */
  begin(request: TurnRequest): Span;
  /** What the turn's models, tools and channel do is told in its span. */
  over(run: TurnContext): TurnContext;
  fail(error: unknown): void;
  end(): void;
}

export function createTurnTrace(
  { tracing = noopTracer, clock }: Partial<TurnTraceDeps> & Pick<TurnTraceDeps, 'clock'>,
  { projectId, sessionId, channel, callId, traceparent: parent }: NewSession,
): TurnTrace {
  let span: Span | undefined;
  const begin = ({ input, beganAtMs }: TurnRequest): Span => {
    span ??= tracing.startSpan('turn', {
      parent,
      startMs: beganAtMs,
      attributes: {
        'callway.project.id': projectId,
        'session.id': sessionId,
        'callway.channel': channel,
        'callway.call.id': callId,
        'callway.turn.input': input.kind,
      },
    });
    return span;
  };
  return {
    begin,
    over(run) {
      const { deps, request } = run;
      const turn = begin(request);
      const { traceparent } = turn;
      if (tracing === noopTracer) return { ...run, traceparent };
      const models = { ...deps.models, chat: tracedModel({ tracing, clock }, deps.models.chat, turn) };
      const { delivery, beganAtMs = clock.now() } = request;
      const traced = delivery
        ? { delivery: tracedDelivery({ tracing, clock }, delivery, turn, beganAtMs) }
        : {};
      return { ...run, deps: { ...deps, models }, request: { ...request, ...traced }, traceparent };
    },
    fail: (error) => span?.recordError(error),
    end: () => span?.end(),
  };
}

/** The channel's delivery, which leaves the parts of the answer's latency behind as spans of the turn. */
export function tracedDelivery(
  { tracing }: TurnTraceDeps,
  delivery: SpokenDelivery,
  turn: Span,
  beganAtMs: number,
): SpokenDelivery {
  return {
    onSession: (session) => delivery.onSession(session),
    onNode: (current) => delivery.onNode(current),
    heardSoFar: () => delivery.heardSoFar(),
    async finish(): Promise<Delivered> {
      const delivered = await delivery.finish();
      let atMs = beganAtMs;
      for (const [part, name] of delivered.latencyParts ? PARTS : []) {
        const lastsMs = delivered.latencyParts?.[part] ?? 0;
        tracing.startSpan(name, { parent: turn.traceparent, startMs: atMs }).end(atMs + lastsMs);
        atMs += lastsMs;
      }
      turn.setAttributes({
        'callway.latency_ms': delivered.latencyMs,
        'callway.interrupted': delivered.interrupted,
      });
      return delivered;
    },
  };
}

/**
 * A model each of whose answers is a span of the turn: what it was asked for, and when its first word came.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
 */
export function tracedModel({ tracing, clock }: TurnTraceDeps, model: ChatModel, turn: Span): ChatModel {
  return {
    name: model.name,
    async *stream(request, signal) {
      const beganMs = clock.monotonicMs();
      const span = tracing.startSpan(`chat ${request.model}`, {
        kind: 'client',
        parent: turn.traceparent,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': model.name,
          'gen_ai.request.model': request.model,
          'callway.purpose': request.purpose,
        },
      });
      let isFirst = true;
      try {
        for await (const event of model.stream(request, signal)) {
          if (isFirst)
            span.setAttributes({ 'callway.first_token_ms': Math.round(clock.monotonicMs() - beganMs) });
          isFirst = false;
          yield event;
        }
      } catch (error) {
        if (!signal.aborted) span.recordError(error);
        throw error;
      } finally {
        span.end();
      }
    },
  };
}
