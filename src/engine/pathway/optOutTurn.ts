import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import { optOut, optOutConfirmation, optOutWords } from '../tools/optOut/optOut.ts';
import { say, type TurnContext } from '../turn/turnContext.ts';
import { edgeOfEvent } from './selectEdge.ts';

export const OPTED_OUT = { kind: 'opt_out' } as const;

/** Lists the person's number where they say that they want no more calls. @returns Whether they do. */
export async function hearsOptOut(turn: TurnContext): Promise<boolean> {
  const words = optOutWords(turn);
  if (words !== undefined) await optOut(turn, 'spoken', words);
  return words !== undefined;
}

/** Whether an edge for the opt-out leaves the node, in place of the confirmation. */
export function leadsOnAfterOptOut({ graph }: TurnContext, node: PathwayNode): boolean {
  return edgeOfEvent(graph, node, OPTED_OUT) !== undefined;
}

/** Whether no edge leaves a tool node that has listed the number, but for one for the opt-out. */
export function isOverAfterOptOut(turn: TurnContext, node: PathwayNode): boolean {
  return leadsOnAfterOptOut(turn, node) || turn.graph.outgoing(node.id).length === 0;
}

/** A tool has listed the number: an edge leads on, or the agent confirms it and the call ends. */
export async function afterOptOut(turn: TurnContext, node: PathwayNode) {
  if (leadsOnAfterOptOut(turn, node)) return { event: { type: 'start', trigger: OPTED_OUT } } as const;
  await confirmOptOut(turn);
  return { event: { type: 'halted' }, ended: 'end_call_tool', speech: 'said' } as const;
}

export async function confirmOptOut(turn: TurnContext): Promise<void> {
  await say(turn, 'text', optOutConfirmation(turn));
}
