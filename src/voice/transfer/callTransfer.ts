import { TRANSFER_OUTCOMES } from '../../agents/transferOptions.ts';
import type { AgentTurnQueue } from '../../conversation/turns/agentTurnQueue.ts';
import type { TurnInput } from '../../engine/turn/turn.ts';
import type { TransferStatus } from '../../media/agentStream/streamClient.ts';
import type { TurnController } from '../turnController.ts';

/** A peer that reports no transfer status has completed the transfer by then, or will not. */
const STATUS_TIMEOUT_MS = 45_000;
/** Longer than a target may take; for a final status that got lost. */
const TRANSFER_TIMEOUT_MS = 650_000;

export interface CallTransferDeps {
  readonly turns: TurnController;
  readonly agentTurns: AgentTurnQueue;
  /** The transfer has failed: the agent has the call again. */
  readonly onFailed: (input: TurnInput) => void;
}

/** The transfer of a call, during which the agent does not have it. It ends when it fails, or with the stream. */
export class CallTransfer {
  readonly #deps: CallTransferDeps;
  /** When it times out, on the stream's clock; undefined while the agent has the call. */
  #untilMs: number | undefined;

  constructor(deps: CallTransferDeps) {
    this.#deps = deps;
  }

  get isRunning(): boolean {
    return this.#untilMs !== undefined;
  }

  /** The agent has asked for it. */
  start(): void {
    const { turns, agentTurns } = this.#deps;
    agentTurns.keepUnanswered(turns.takeUnansweredText());
    this.#untilMs ??= turns.nowMs + STATUS_TIMEOUT_MS;
    turns.dispatch({ type: 'transfer_started', isByAgent: true });
  }

  onStatus(transfer: TransferStatus): void {
    const { turns, agentTurns } = this.#deps;
    const wasRunning = this.isRunning;
    if (!wasRunning && transfer.status !== 'begun') return;
    if (transfer.status === 'failed') {
      this.#end(transferFailed(transfer));
      return;
    }
    // A transfer to several targets may take longer than one.
    this.#untilMs = turns.nowMs + TRANSFER_TIMEOUT_MS;
    if (transfer.status === 'begun') {
      if (!wasRunning) agentTurns.keepUnanswered(turns.takeUnansweredText());
      turns.dispatch({ type: 'transfer_started', isByAgent: wasRunning });
    } else {
      void agentTurns.run({ kind: 'transfer_update', progress: transfer.status }, turns.timestamps());
    }
  }

  /**
   * Checks the deadline: when no final status came, the pathway's fallback is taken, or the call ends with an apology.
   */
  onFrame(atMs: number): void {
    if (this.#untilMs !== undefined && atMs >= this.#untilMs) this.#end({ kind: 'failure' });
  }

  #end(input: TurnInput): void {
    this.#untilMs = undefined;
    this.#deps.onFailed(input);
  }
}

/** Returns the agent's input after a transfer that gave the call back to it. */
export function transferFailed({
  to,
  reason,
  outcome,
}: {
  readonly to: string;
  readonly reason: string;
  readonly outcome?: string | undefined;
}): TurnInput {
  const known = TRANSFER_OUTCOMES.find((one) => one === outcome);
  return { kind: 'transfer_failed', to, reason, outcome: known };
}
