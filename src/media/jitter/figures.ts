/** What happened so far; all only grow but the delay. */
export interface JitterBufferFigures {
  readonly duplicates: number;
  /** Came after their place was played. */
  readonly late: number;
  /** Thrown away to keep the delay down. */
  readonly shed: number;
  /** Neither speech nor well-formed. */
  readonly undecodable: number;
  readonly concealedMs: number;
  /** Lost, and told again by the packet after. */
  readonly recoveredMs: number;
  /** Times that the buffer ran dry in the midst of speech. */
  readonly underruns: number;
  /** Cut out and put in, to follow the sender's clock and the network. */
  readonly shortenedMs: number;
  readonly lengthenedMs: number;
  /** Of what is played now, beyond the fastest packets. */
  readonly delayMs: number;
}
