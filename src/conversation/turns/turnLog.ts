import type { Logger } from 'pino';
import type { SpokenTurn } from './turnLatency.ts';

export interface TurnLogDeps {
  readonly logger: Pick<Logger, 'info'>;
  readonly onSpokenTurn?: ((turn: SpokenTurn) => void) | undefined;
}

/**
 * Logs each turn in which the agent was heard, with the parts of its latency.
 *
 * @param fields - Log fields that name the session.
 */
export function loggingTurns(
  { logger, onSpokenTurn }: TurnLogDeps,
  fields: object,
): (turn: SpokenTurn) => void {
  return (turn) => {
    logger.info({ ...fields, ...turn }, 'agent turn spoken');
    onSpokenTurn?.(turn);
  };
}
