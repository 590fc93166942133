import type { AgentConfig } from '../../agents/agentConfig.ts';
import { type PathwayGraph, silenceMsOf } from '../../agents/pathway/graph.ts';
import { isEventCondition } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import { type EngineConfig, engineOf } from '../../agents/speech/engineConfig.ts';
import { type CurrentSpeech, currentSpeech } from '../../agents/speech/language.ts';
import { type TurnDetection, turnDetectionOf } from '../../agents/speech/turnDetection.ts';
import type { ChatModel } from '../../models/ports/chatModel.ts';
import type {
  HistoryEventType,
  LatencyDetails,
  LatencyParts,
  MessageSpeech,
  Session,
} from '../session/session.ts';

/**
 * Delivers an answer on a channel where that takes time, as speech does. The turn is stored once the delivery is
 * finished, with what the customer heard.
 */
export interface SpokenDelivery {
  /**
   * Called once per turn, before any of the answer, with the session that the turn runs on.
   *
   * @throws To refuse the turn; nothing of it is stored.
   */
  onSession(session: Session): void;
  /**
   * Called when the turn starts and at each move; what is said afterwards is said at this node.
   *
   * @param hasSpokenFor - The words since the last call were said for this node: the model knew that it moves there.
   *
   * @returns A promise where the channel is not ready to say something at the node yet.
   */
  onNode(current: CurrentNode, hasSpokenFor: boolean): Promise<void> | undefined;
  /** Called when the turn begins to wait for the model or for tools, and with undefined when its tools have ended. */
  readonly onWait?: AnswerWait;
  /** The commitment of a preemptive turn; undefined for other turns. */
  readonly commitment?: Commitment;
  /**
   * The model that hears the customer and speaks itself, in place of the chat model; undefined where it has failed. Its
   * answers begin with `speech`. Undefined when there is none on the channel.
   */
  readonly speakingModel?: (engine: EngineConfig) => ChatModel | undefined;
  /**
   * Called when the answer is complete or broke off: at most once per turn, and never for a turn that failed or was
   * aborted before its first word.
   *
   * @returns What the customer heard, once playback has ended or was interrupted. Must not reject.
   */
  finish(): Promise<Delivered>;
  /**
   * Called instead of {@link finish} when the turn failed or was aborted before the answer's first word.
   *
   * @returns The channel's own fillers that the customer heard meanwhile; empty where there were none.
   */
  heardSoFar(): Delivered;
}

type AnswerWait = (waitedFor: 'model' | 'tool' | undefined) => void;

/** Commits a preemptive turn: until then no tool has effects, and a turn that fails leaves no trace. */
export interface Commitment {
  readonly isPending: boolean;
  /** Resolves when the turn is committed; rejects with its abort reason. */
  readonly promise: Promise<void>;
}

/** The pathway node that a turn is at, as far as a channel needs it. */
export interface CurrentNode extends CurrentSpeech {
  readonly node: PathwayNode;
  /** The agent's, with what the node overrides. */
  readonly turnDetection: TurnDetection;
  /** The speech-to-speech model that is to speak here; undefined for none. */
  readonly engine: EngineConfig | undefined;
  /** Whether the answering side has words for every wait, so that the channel adds none of its own. */
  readonly speaksForItself?: true;
  /** DTMF digits that an edge out of the node waits for. */
  readonly digits: readonly string[];
  /** Phrases that the customer may say next. */
  readonly expectedAnswers: readonly string[];
  /** The silence after which an edge out of the node is taken; the shortest of several. */
  readonly silenceEdgeMs?: number | undefined;
  /**
   * Starts the retrieval for what the customer has said so far, so that a turn on the same words finds it done. Absent
   * where neither this node nor the next ones use documents. Never rejects.
   */
  readonly prefetchRetrieval?: ((words: string) => Promise<void>) | undefined;
}

export interface Delivered {
  /** What the customer heard, the channel's own fillers included. */
  readonly text: string;
  /** The whole answer, where the channel said something of its own: a filler or a fallback phrase. */
  readonly generatedText?: string;
  /** Whether the customer interrupted the answer. */
  readonly interrupted: boolean;
  /** Set when `text` is an estimate of what was heard, or a report of a peer that reports nothing else. */
  readonly heard?: 'estimated' | 'reported';
  /** When the customer heard its first sound, in ms since the Unix epoch. */
  readonly spokenFromMs?: number;
  readonly latencyMs?: number;
  readonly latencyParts?: LatencyParts;
  readonly latencyDetails?: LatencyDetails;
  /** How the words were spoken; undefined where nothing was. */
  readonly speech?: MessageSpeech | undefined;
  readonly events?: readonly {
    readonly type: HistoryEventType;
    readonly data: Readonly<Record<string, unknown>>;
  }[];
}

/**
 * The abort reason of a turn whose customer went on speaking before they heard anything of the answer. Nothing of the
 * turn is stored; it is run again with the complete utterance.
 */
export class TurnCancelledError extends Error {
  constructor() {
    super('turn cancelled: the customer went on speaking');
    this.name = 'TurnCancelledError';
  }
}

/** The entries of DTMF digits that lead on from these nodes. */
export function digitsLeaving(graph: PathwayGraph, nodes: readonly { readonly id: string }[]): string[] {
  return nodes
    .flatMap(({ id }) => graph.leaving(id))
    .flatMap(({ data: { condition } }) => {
      const isDtmf = isEventCondition(condition) && condition.event === 'dtmf';
      return isDtmf && condition.digits !== undefined ? [condition.digits] : [];
    });
}

/** @param origin - The node that the customer's next turn returns to, so that they may answer it. */
export function currentNodeOf(
  agent: AgentConfig,
  graph: PathwayGraph,
  node: PathwayNode,
  variables: Readonly<Record<string, unknown>>,
  prefetchRetrieval: CurrentNode['prefetchRetrieval'],
  origin?: PathwayNode,
): CurrentNode {
  const answered = origin ? [node, origin] : [node];
  const silences = graph.leaving(node.id).flatMap(({ data }) => silenceMsOf(data.condition, node) ?? []);
  return {
    node,
    turnDetection: turnDetectionOf(agent.turnDetection, node.data.turnDetection),
    engine: engineOf(agent.engine, node.data.engine),
    ...currentSpeech(agent.speech, node.data.speech, variables),
    digits: digitsLeaving(graph, answered),
    expectedAnswers: answered.flatMap(({ data }) => data.expectedAnswers ?? []),
    silenceEdgeMs: silences.length > 0 ? Math.min(...silences) : undefined,
    prefetchRetrieval,
  };
}
