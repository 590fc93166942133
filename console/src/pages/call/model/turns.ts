import { type Axis, type Message, numberOf, type Timeline } from './callTimeline.ts';

/** What an answer waited for, in this order. */
export const LATENCY_PARTS = [
  'network',
  'endpointing',
  'transcription',
  'prepare',
  'retrieval',
  'tool',
  'model',
  'sentence',
  'synthesis',
  'playout',
] as const;
export type LatencyPart = (typeof LATENCY_PARTS)[number];

/** An answer of the agent, and what it waited for. */
export interface Turn {
  /** When the caller had finished; the answer began `latencyMs` later. On the axis. */
  readonly fromMs: number;
  readonly latencyMs: number;
  readonly parts: readonly { readonly part: LatencyPart; readonly ms: number }[];
  readonly message: Message;
}

/** The turns with a latency. */
export function turnsOf({ messages, events }: Timeline, axis: Axis): Turn[] {
  const searches = events
    .filter(({ type }) => type === 'knowledge_used')
    .map(({ at, data }) => ({ atMs: axis.at(at), durationMs: numberOf(data, 'durationMs') ?? 0 }));
  return messages.flatMap((message) => {
    const { latencyMs, spoken, at } = message;
    if (message.role !== 'assistant' || latencyMs === undefined) return [];
    const fromMs = Math.max(0, axis.at(spoken?.from ?? at) - latencyMs);
    const parts = partsOf(message, latencyMs, retrievalMs(searches, fromMs, fromMs + latencyMs));
    return [{ fromMs, latencyMs, parts, message }];
  });
}

/** The part that took most of it. */
export function slowestPart({ parts }: Turn): LatencyPart {
  return parts.reduce((slowest, one) => (one.ms > slowest.ms ? one : slowest), { part: 'model', ms: 0 }).part;
}

function partsOf(
  { latencyParts, latencyDetails }: Message,
  latencyMs: number,
  searchMs: number,
): Turn['parts'] {
  const { bufferMs, endpointingMs, transcriptionMs, answerMs, speechMs, playoutMs } =
    latencyParts ?? inWriting(latencyMs);
  const { toolMs = 0, sentenceMs = 0 } = latencyDetails ?? {};
  const modelMs = latencyDetails?.modelMs ?? (latencyParts || latencyDetails ? 0 : answerMs);
  const retrieval = Math.max(0, Math.min(searchMs, answerMs - modelMs - toolMs));
  const parts: Record<LatencyPart, number> = {
    network: bufferMs,
    endpointing: endpointingMs,
    transcription: transcriptionMs,
    prepare: answerMs - modelMs - toolMs - retrieval,
    retrieval,
    tool: toolMs,
    model: modelMs,
    sentence: sentenceMs,
    synthesis: speechMs - sentenceMs,
    playout: playoutMs,
  };
  return LATENCY_PARTS.flatMap((part) => (parts[part] > 0 ? [{ part, ms: parts[part] }] : []));
}

function inWriting(answerMs: number) {
  return { bufferMs: 0, endpointingMs: 0, transcriptionMs: 0, answerMs, speechMs: 0, playoutMs: 0 };
}

interface Search {
  readonly atMs: number;
  readonly durationMs: number;
}

function retrievalMs(searches: readonly Search[], fromMs: number, toMs: number): number {
  const within = searches.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
  return within.reduce((sum, { durationMs }) => sum + durationMs, 0);
}
