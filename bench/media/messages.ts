import type { ThreadStatistics } from '../../src/media/engine/messages.ts';

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
  | { readonly kind: 'closed'; readonly packetsSent: number; readonly packetsDue: number };

export interface GatewayFigures {
  /** Of all threads, since the process began, µs. */
  readonly cpuUs: number;
  readonly residentBytes: number;
  readonly thread: ThreadStatistics;
}
