import type { AgentConfig } from '../../agents/agentConfig.ts';
import type { ChatModel } from '../../providers/ports/chatModel.ts';
import type { MoveStyle } from '../pathway/turnMachine.ts';

/** A model, and the names that it goes by in each execution mode. */
export interface ModelChoice {
  readonly chat: ChatModel;
  readonly smart: string;
  readonly balance: string;
  readonly turbo: string;
}

export type ExecutionMode = 'smart' | 'balance' | 'turbo';

export const MOVE_STYLES: Readonly<Record<ExecutionMode, MoveStyle>> = {
  smart: 'first',
  balance: 'together',
  turbo: 'beside',
};

export function executionMode(agent: Pick<AgentConfig, 'executionMode'>): ExecutionMode {
  return agent.executionMode ?? 'balance';
}
