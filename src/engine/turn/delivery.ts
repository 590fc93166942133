import type { PathwayGraph } from '../../agents/pathway/graph.ts';
import { isEventCondition } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { HistoryEventType, LatencyParts, Session } from '../session/session.ts';

/**
 * How a channel brings an answer to the customer where that takes time, as speech does. The turn is kept when it is
 * settled, with what the customer really got.
 */
export interface SpokenDelivery {
  /**
   * The session that the turn is taken of, as it certainly is: told once, before any of the answer. A turn that was made
   * ready on what the session was taken for may have told of its place before.
   *
   * @throws To refuse the turn, which is then as if it had not been.
   */
  of(session: Session): void;
  /** Where the talk is: told at the turn's begin and at each move. What is said from then on is said there. */
  at(place: CurrentNode): void;
  /**
   * The answer is complete, or broke off. Asked at most once in a turn, and not at all in one that failed, or was
   * left, before its first word.
   *
   * @returns What the customer got, once they have got it or have cut it short. Must not reject.
   */
  settle(): Promise<Delivered>;
  /**
   * Asked in place of {@link settle} where the turn failed, or was left, before the answer's first word.
   *
   * @returns Words of the channel's own that the customer got while they waited; empty where there were none.
   */
  heard(): Delivered;
}

/** A node of the pathway, as far as a channel has to know it. */
export interface CurrentNode {
  readonly node: PathwayNode;
  /** Telephone keys that lead on from here. */
  readonly digits: readonly string[];
  /**
   * Begins to search the documents for what the customer has said so far; the turn that comes of the same words finds
   * it done. Absent where the pathway asks no documents near by. Never rejects.
   */
  readonly searchAhead?: ((words: string) => Promise<void>) | undefined;
}

export interface Delivered {
  /** What was really said, words of the channel's own included. */
  readonly text: string;
  /** The customer cut it short. */
  readonly interrupted: boolean;
  readonly latencyMs?: number;
  readonly latencyParts?: LatencyParts;
  readonly events?: readonly {
    readonly type: HistoryEventType;
    readonly data: Readonly<Record<string, unknown>>;
  }[];
}

/**
 * Why a turn is aborted when the customer went on speaking before they got anything of the answer: it is then as if it
 * had not been, and comes again with all of their words.
 */
export class TurnCancelledError extends Error {
  constructor() {
    super('the customer went on speaking');
    this.name = 'TurnTakenBack';
  }
}

export function placeOf(
  graph: PathwayGraph,
  node: PathwayNode,
  searchAhead?: CurrentNode['searchAhead'],
): CurrentNode {
  const keys = graph.outgoing(node.id).flatMap(({ data: { condition } }) => {
    const isKeys = isEventCondition(condition) && condition.event === 'dtmf';
    return isKeys && condition.digits !== undefined ? [condition.digits] : [];
  });
  return { node, digits: keys, searchAhead };
}
