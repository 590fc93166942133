/** Messages to the measured process. */
export type ToGateway =
  /** Opens a call for each phone, or for each so many of them, with the others as participants. */
  | { readonly kind: 'open'; readonly phonePorts: readonly number[]; readonly participants: number }
  /** From now on the main thread works so much of its time, and makes garbage; 0 to 1. */
  | { readonly kind: 'busy'; readonly share: number }
  | { readonly kind: 'figures' }
  /** Closes all calls. */
  | { readonly kind: 'close' };

/** Its answers. */
export type FromGateway =
  | { readonly kind: 'ready' }
  | { readonly kind: 'opened'; readonly ports: readonly number[] }
  | { readonly kind: 'figures'; readonly figures: GatewayFigures }
  | { readonly kind: 'closed' };

export interface GatewayFigures {
  /** CPU time of all threads since the process started, µs. */
  readonly cpuUs: number;
  readonly residentBytes: number;
  /** Of the media thread: one tick per call and 20 ms, and the ticks that were skipped. */
  readonly ticks: number;
  readonly skippedTicks: number;
  readonly latenessCounts: readonly number[];
}
