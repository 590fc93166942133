import { sumOf } from '../../agents/cost/usage.ts';
import type { SummarizedMessages } from '../history/contextWindow.ts';
import { CONTEXT_BUDGET_TOKENS, messageTokens } from '../history/contextWindow.ts';
import { askForSummary, questionAt } from '../prompt/questions.ts';
import { type Session, withMessages } from '../session/session.ts';
import type { TurnStore } from '../session/sessionStore.ts';
import type { TurnContext } from '../turn/turnContext.ts';

/** The most messages since the last summary: each turn reads them, however short they are. */
const MAX_MESSAGES_SINCE_SUMMARY = 200;

export interface SummaryDeps {
  readonly sessions: TurnStore;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Keeps the context bounded: replaces the oldest messages by a summary once they are over budget, or many. Without a summary the
 * context window drops them.
 */
export async function summariseIfDue(deps: SummaryDeps, turn: TurnContext, session: Session): Promise<void> {
  const upTo = dueForSummary(session.state);
  if (upTo === 0) return;
  const { tally } = turn.usage;
  try {
    const text = await askForSummary(questionAt(turn, undefined));
    const used = tally.take();
    const usage = sumOf(session.state.usage ?? {}, used);
    const state = withMessages({ ...session.state, usage, summary: { text, upTo } }, []);
    const history = { messages: [], events: [], used };
    await deps.sessions
      .saveTurn({ ...session, turn: session.turn + 1, state }, history)
      .catch((error: unknown) => {
        tally.add(used);
        throw error;
      });
  } catch (error) {
    deps.onError(error, 'conversation not summarised');
  }
}

/**
 * Returns how many messages to summarise once those after the last summary are over budget, or too many: about the
 * older half, without separating a tool result from its call.
 *
 * @returns 0 while they are within budget.
 */
function dueForSummary(state: SummarizedMessages): number {
  const from = state.summary?.upTo ?? 0;
  const sizes = state.messages.slice(from).map(messageTokens);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= CONTEXT_BUDGET_TOKENS && sizes.length <= MAX_MESSAGES_SINCE_SUMMARY) return 0;
  let passed = 0;
  let count = 0;
  while (count < sizes.length && passed < total / 2) {
    passed += sizes[count] ?? 0;
    count += 1;
  }
  while (count < sizes.length && state.messages[from + count]?.role === 'tool') count += 1;
  return from + count;
}
