import type { HistoryEvent, SessionMessage } from '../../engine/session/session.ts';

/** The longest answer that is judged: some twenty minutes of speech. */
const MAX_ANSWER_CHARACTERS = 20_000;

interface CalledTool {
  readonly name: string;
  /** The arguments as JSON text. */
  readonly arguments: string;
}

/** What the caller did, and how the agent reacted. */
export interface Exchange {
  /** Place in the case's turns; of a persona, the number of its words. */
  readonly turn: number;
  /** The caller's action in words; undefined when the caller did nothing. */
  readonly caller?: string;
  /** What the agent said and the caller heard. */
  readonly agent: string;
  readonly nodes: readonly string[];
  readonly tools: readonly CalledTool[];
  /** Digits that the agent sent. */
  readonly digits: readonly string[];
  readonly transfers: readonly string[];
  readonly latencyMs?: number;
  /** The time from the caller's interruption to the agent's silence. */
  readonly stoppedWithinMs?: number;
  /** The position of that interruption in the call's recording. */
  readonly interruptedAtMs?: number;
  /** The position of the agent's words in the call's recording. */
  readonly atMs?: number;
}

/** The observations of a play so far. */
export interface Observation extends ObservedState {
  readonly exchanges: readonly Exchange[];
}

export interface ObservedState {
  readonly variables: Readonly<Record<string, unknown>>;
  /** Who ended the session; null while it goes on. */
  readonly endedBy: 'caller' | 'agent' | null;
}

/** The agent's part of an exchange, from what a turn added to the session's history. */
export function reactionIn(
  messages: readonly SessionMessage[],
  events: readonly HistoryEvent[],
): Pick<Exchange, 'agent' | 'nodes' | 'tools' | 'latencyMs'> {
  const answers = messages.filter(({ role, internal }) => role === 'assistant' && !internal);
  const latencies = answers.flatMap(({ latencyMs }) => latencyMs ?? []);
  const of = (type: HistoryEvent['type']) => events.filter((event) => event.type === type);
  return {
    agent: answers
      .flatMap(({ content }) => content ?? [])
      .join('\n')
      .slice(0, MAX_ANSWER_CHARACTERS),
    nodes: of('node_entered').map(({ data }) => String(data.nodeId)),
    tools: of('tool_called').map(({ data }) => ({
      name: String(data.name),
      arguments: String(data.arguments ?? '{}'),
    })),
    latencyMs: latencies.length > 0 ? Math.max(...latencies) : undefined,
  };
}
