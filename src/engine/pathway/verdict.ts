import type { PathwayEdge } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { Clock } from '../../base/values/clock.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import { askForRoute, questionAt } from '../prompt/questions.ts';
import type { TurnContext } from '../turn/turnContext.ts';

/** Code of the error in the history where a model does not select an edge. */
const ROUTE_FAILED = 'route_failed';
/** A verdict is about ten tokens: it comes this soon after the answer's first one, or is not waited for. */
const VERDICT_TIMEOUT_MS = 250;

/** Asks a model to select the edge. @returns Undefined for a verdict that cannot be read. @throws {ModelError} */
export async function judge(
  turn: TurnContext,
  node: PathwayNode,
  choices: readonly PathwayEdge[],
): Promise<string | null | undefined> {
  try {
    return await askForRoute(questionAt(turn, node), node, choices, turn.render);
  } catch (error) {
    if (!(error instanceof ModelError) || error.code !== 'model_malformed') throw error;
    turn.journal.event('error', { code: ROUTE_FAILED, nodeId: node.id, message: error.message });
    return undefined;
  }
}

/** @returns The edge that holds; null for none, and where the model fails. */
export async function judgeBeside(
  turn: TurnContext,
  node: PathwayNode,
  choices: readonly PathwayEdge[],
): Promise<string | null> {
  try {
    return await askForRoute(questionAt(turn, node), node, choices, turn.render);
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    turn.journal.event('error', { code: ROUTE_FAILED, nodeId: node.id, message });
    return null;
  }
}

/**
 * Holds an answer back until it is known whether the conversation stays at the node, but not for long.
 *
 * @returns Whether the answer may begin; the same for every call.
 */
export function holdUntil(clock: Clock, verdict: Promise<string | null>): () => Promise<boolean> {
  let isFree: Promise<boolean> | undefined;
  return () => {
    isFree ??= new Promise((resolve) => {
      const timer = clock.setTimer(() => resolve(true), VERDICT_TIMEOUT_MS);
      void verdict.then((edgeId) => {
        timer.cancel();
        resolve(edgeId === null);
      });
    });
    return isFree;
  };
}
