/** Whether and when the caller may interrupt what the agent says. */
export interface InterruptionPolicy {
  readonly interruptible: boolean;
  /** Speech of the caller that pauses the agent. */
  readonly interruptAfterMs: number;
}

interface Piece {
  policy: InterruptionPolicy;
  /** Position of its end in the answer, in samples; undefined until its speech is complete. */
  end: number | undefined;
}

/**
 * The interruption policy of each piece of an answer: a node's policy holds until the node's words have been heard, while
 * the words of the next node may already be queued behind them.
 */
export class PiecePolicies {
  #pieces: readonly Piece[] = [];
  /** The first piece of the node that speaks. */
  #nodeFrom = 0;
  #policy: InterruptionPolicy | undefined;

  /**
   * The next pieces belong to a node with this policy.
   *
   * @param ownsLastWords - The words since the last node were said for this one.
   */
  enterNode(policy: InterruptionPolicy, ownsLastWords: boolean): void {
    this.#policy = policy;
    if (ownsLastWords) for (const piece of this.#pieces.slice(this.#nodeFrom)) piece.policy = policy;
    this.#nodeFrom = this.#pieces.length;
  }

  /** A piece was queued. */
  add(): void {
    if (this.#policy) this.#pieces = [...this.#pieces, { policy: this.#policy, end: undefined }];
  }

  /** The speech of the oldest incomplete piece is complete. @param end - In samples from the answer's start. */
  complete(end: number): void {
    const piece = this.#pieces.find((one) => one.end === undefined);
    if (piece) piece.end = end;
  }

  /** @returns The policy of the piece at a position; undefined when every piece was heard up to there. */
  at(position: number): InterruptionPolicy | undefined {
    return this.#pieces.find(({ end }) => end === undefined || end > position)?.policy;
  }
}
