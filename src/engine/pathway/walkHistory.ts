import type { SessionState } from '../session/session.ts';
import type { ExternalMessage, TurnInput } from '../turn/turn.ts';
import type { TurnContext } from '../turn/turnContext.ts';
import { extractVariables } from './extraction.ts';
import { runTurnMachine } from './runPathway.ts';

/** The most turns that are walked, from the end of the conversation: each may cost a model request. */
const MAX_WALKED_TURNS = 100;

type Place = Pick<SessionState, 'currentNodeId' | 'hasSpoken'>;

/** What the person said in an earlier turn, and what the agent answered. */
interface EarlierTurn {
  readonly asked: readonly ExternalMessage[];
  readonly answered: readonly ExternalMessage[];
}

/**
 * Walks a conversation from outside of the session through the pathway, so that a new session begins at the node where
 * that conversation was.
 *
 * The agent's earlier messages are its words: no model is asked to speak, fixed texts are not said, and no tool is run,
 * since its effects happened long ago; tool nodes count as successful. A model is asked which edge was taken where
 * conditions are sentences, and for variables where an edge depends on one. After an end or a transfer the
 * pathway begins anew.
 *
 * @returns The turn at the node that was reached, with the messages that still have no answer as its history.
 */
export async function walkHistory(turn: TurnContext): Promise<TurnContext> {
  const { history = [], walksHistory: _, ...request } = turn.request;
  const { turns, unanswered } = earlierTurns(history);
  const { session, journal } = turn;
  let place: Place = session.state;
  // The conversation is past its greeting.
  if (turns.length > 0) journal.takeGreeting();
  for (const [index, { asked, answered }] of turns.entries()) {
    for (const message of asked) journal.add(message);
    if (index >= turns.length - MAX_WALKED_TURNS) place = await walkTurn(turn, place, inputOf(asked));
    const nodeId = place.currentNodeId;
    for (const message of answered) journal.add({ ...message, ...(nodeId === null ? {} : { nodeId }) });
  }
  return {
    ...turn,
    session: at(turn, place),
    request: { ...request, history: unanswered.length > 0 ? unanswered : undefined },
  };
}

async function walkTurn(turn: TurnContext, place: Place, input: TurnInput): Promise<Place> {
  const { journal, request } = turn;
  const { history: _, ...rest } = request;
  let extraction: Promise<void> | undefined;
  const walked: TurnContext = {
    ...turn,
    session: at(turn, place),
    request: { ...rest, input },
    isWalked: true,
    get extraction() {
      extraction ??= extractVariables(walked);
      return extraction;
    },
  };
  const { hasSpoken, ended } = await runTurnMachine(walked);
  if (!ended) return { currentNodeId: journal.nodeId, hasSpoken };
  journal.moveTo(null);
  journal.setRoute({ returnTo: null, heldEdgeId: null });
  return { currentNodeId: null, hasSpoken: false };
}

function at({ session }: TurnContext, { currentNodeId, hasSpoken }: Place): TurnContext['session'] {
  return { ...session, state: { ...session.state, currentNodeId, hasSpoken } };
}

function earlierTurns(history: readonly ExternalMessage[]) {
  const turns: EarlierTurn[] = [];
  let asked: ExternalMessage[] = [];
  let answered: ExternalMessage[] = [];
  for (const message of history) {
    if (message.role === 'assistant') {
      answered.push(message);
      continue;
    }
    if (answered.length > 0) {
      turns.push({ asked, answered });
      [asked, answered] = [[], []];
    }
    asked.push(message);
  }
  if (answered.length > 0) {
    turns.push({ asked, answered });
    asked = [];
  }
  return { turns, unanswered: asked };
}

/**
 * Returns the turn's input: when the person said nothing, the agent spoke first or continued with its tools' results.
 */
function inputOf(asked: readonly ExternalMessage[]): TurnInput {
  const words = asked.filter(({ role }) => role === 'user').map(({ content }) => content ?? '');
  if (words.length > 0) return { kind: 'user_message', text: words.join('\n') };
  if (asked.length === 0) return { kind: 'begin' };
  const results = asked.map(({ tool_call_id: id = '', content }) => ({
    toolCallId: id,
    content: content ?? '',
  }));
  return { kind: 'tool_results', results };
}
