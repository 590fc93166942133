import type { Situation } from '../../../offline/chat/request.ts';
import type { ChatRequest } from '../../providers/ports/chatModel.ts';
import { MOVE_TOOL } from './structuredOutput.ts';

export type { Situation };

/** The rehearsal model follows rules, which do not read prompts: it is given the facts behind them. */
export function rehearsalOptions(situation: Situation): Pick<ChatRequest, 'providerOptions'> {
  return { providerOptions: { rehearsal: { ...situation, moveTool: MOVE_TOOL } satisfies Situation } };
}
