/** What the measured process is told. */
export type ToGateway =
  /** Opens a call for each telephone. */
  | { readonly kind: 'open'; readonly phonePorts: readonly number[] }
  /** From now on the main thread works so much of its time, and makes garbage; 0 to 1. */
  | { readonly kind: 'busy'; readonly share: number }
  | { readonly kind: 'figures' }
  /** Closes all calls. */
  | { readonly kind: 'close' };

/** What it answers. */
export type FromGateway =
  | { readonly kind: 'ready' }
  | { readonly kind: 'opened'; readonly ports: readonly number[] }
  | { readonly kind: 'figures'; readonly figures: GatewayFigures }
  | { readonly kind: 'closed' };

export interface GatewayFigures {
  /** Of all threads, since the process began, µs. */
  readonly cpuUs: number;
  readonly residentBytes: number;
  /** Of the media thread: one a call and 20 ms, and those that came too late to be of use. */
  readonly ticks: number;
  readonly skippedTicks: number;
  readonly latenessCounts: readonly number[];
}
