import { askForSummary } from '../prompt/questions.ts';
import type { Session } from '../session/session.ts';
import type { SessionStore } from '../session/sessionStore.ts';
import { questionAt, type TurnContext } from '../turn/turnContext.ts';
import { dueForSummary } from './contextWindow.ts';

export interface SummaryDeps {
  readonly sessions: Pick<SessionStore, 'saveTurn'>;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Keeps the context bounded: replaces the oldest messages by a summary once they are over budget. Without a summary the
 * context window drops them.
 */
export async function summariseIfDue(deps: SummaryDeps, turn: TurnContext, session: Session): Promise<void> {
  const upTo = dueForSummary(session.state);
  if (upTo === 0) return;
  try {
    const text = await askForSummary(questionAt(turn, undefined));
    const state = { ...session.state, summary: { text, upTo } };
    await deps.sessions.saveTurn({ ...session, turn: session.turn + 1, state }, { messages: [], events: [] });
  } catch (error) {
    deps.onError(error, 'conversation not summarised');
  }
}
