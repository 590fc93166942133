import type { Situation } from '../../../offline/chat/request.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import { omitUndefined } from '../../base/values/omitUndefined.ts';
import type { ChatRequest } from '../../models/ports/chatModel.ts';
import type { TurnContext } from '../turn/turnContext.ts';
import { MOVE_TOOL } from './structuredOutput.ts';

export type { Situation };

/** The rehearsal model follows rules, which do not read prompts: it is given the facts behind them. */
export function rehearsalOptions(situation: Situation): Pick<ChatRequest, 'providerOptions'> {
  return { providerOptions: { rehearsal: { ...situation, moveTool: MOVE_TOOL } satisfies Situation } };
}

export function situationOf(turn: TurnContext, node: PathwayNode | undefined): Situation {
  const { id, type, data } = node ?? {};
  return {
    variables: turn.journal.variables,
    today: turn.today,
    ...omitUndefined({ lastUserText: lastUserText(turn) }),
    ...(id !== undefined && type !== undefined && data
      ? { node: { id, title: data.title, type, prompt: turn.render(data.prompt) } }
      : {}),
    ...(data?.expectedAnswers ? { expectedAnswers: data.expectedAnswers } : {}),
  };
}

/** Returns the words that the turn answers. */
function lastUserText({ request: { input }, journal }: TurnContext): string | undefined {
  if (input.kind === 'user_message') return input.text;
  if (input.kind !== 'given_back' || !input.answersCustomer) return undefined;
  return journal.messages().findLast(({ role }) => role === 'user')?.content ?? undefined;
}
