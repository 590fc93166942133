import type { SipServerStats } from './server.ts';
import type { TraceEntry } from './trace.ts';
import type { Endpoint } from './transport/types.ts';

/** What the main thread asks of the SIP server's thread. */
export type ToWorker =
  | { readonly type: 'stats'; readonly id: number }
  | { readonly type: 'follow' | 'unfollow'; readonly callId: string }
  | { readonly type: 'trust'; readonly sources: readonly string[] }
  | { readonly type: 'close' };

/** What the SIP server's thread tells. */
export type FromWorker =
  | { readonly type: 'started'; readonly sipPorts: readonly Endpoint[]; readonly controlPort: number }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'stats'; readonly id: number; readonly stats: SipServerStats }
  | { readonly type: 'trace'; readonly entries: readonly TraceEntry[] }
  | { readonly type: 'closed' };
