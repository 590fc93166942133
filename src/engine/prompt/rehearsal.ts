import type { Situation } from '../../../offline/chat/request.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { ChatRequest } from '../../providers/ports/chatModel.ts';
import type { TurnContext } from '../turn/turnContext.ts';
import { MOVE_TOOL } from './structuredOutput.ts';

export type { Situation };

/** The rehearsal model follows rules, which do not read prompts: it is given the facts behind them. */
export function rehearsalOptions(situation: Situation): Pick<ChatRequest, 'providerOptions'> {
  return { providerOptions: { rehearsal: { ...situation, moveTool: MOVE_TOOL } satisfies Situation } };
}

export function situationOf(turn: TurnContext, node: PathwayNode | undefined): Situation {
  const { input } = turn.request;
  const { id, type, data } = node ?? {};
  return {
    variables: turn.journal.variables,
    today: turn.today,
    ...(input.kind === 'user_message' ? { lastUserText: input.text } : {}),
    ...(id !== undefined && type !== undefined && data
      ? { node: { id, title: data.title, type, prompt: turn.render(data.prompt) } }
      : {}),
    ...(data?.expectedAnswers ? { expectedAnswers: data.expectedAnswers } : {}),
  };
}
