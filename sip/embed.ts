import type { SipServerOptions } from './options.ts';
import type { RefusedInvite } from './refusals.ts';
import type { SipServerStats } from './server.ts';
import { startThread } from './thread.ts';
import type { TraceEntry } from './trace.ts';
import { type KnownPeer, peerList } from './transport/guard.ts';
import type { Endpoint } from './transport/types.ts';

/** A SIP server in a worker thread. */
export interface EmbeddedSipServer {
  readonly sipPorts: readonly Endpoint[];
  readonly controlPort: number;
  /** @throws {Error} When the thread has ended. */
  stats(): Promise<SipServerStats>;
  /** Replaces the peers with a budget of their own. @throws {RangeError} For an invalid source. */
  setKnownPeers(peers: readonly KnownPeer[]): void;
  /**
   * Calls back with the messages of one call, in batches, until the returned function is called. To be called before
   * the first message.
   */
  trace(callId: string, listener: (entries: readonly TraceEntry[]) => void): () => void;
  /** Resolves with the reason when the thread ends without `close`. */
  readonly lost: Promise<Error>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Messages to the SIP server's thread. */
export type ToWorker =
  | { readonly type: 'stats'; readonly id: number }
  | { readonly type: 'follow' | 'unfollow'; readonly callId: string }
  | { readonly type: 'set_known_peers'; readonly peers: readonly KnownPeer[] }
  | { readonly type: 'close' };

/** Messages of the SIP server's thread. */
export type FromWorker =
  | { readonly type: 'started'; readonly sipPorts: readonly Endpoint[]; readonly controlPort: number }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'stats'; readonly id: number; readonly stats: SipServerStats }
  | { readonly type: 'trace'; readonly entries: readonly TraceEntry[] }
  | { readonly type: 'refused'; readonly refused: readonly RefusedInvite[] }
  | { readonly type: 'closed' };

/**
 * Starts a SIP server in a worker thread: a busy main thread does not delay its timers, nor a flood of SIP the main
 * thread. Works from TypeScript sources (with tsx) and from built JavaScript.
 *
 * @param onRefused - Hears of the calls that the server rejects itself, in batches.
 * @throws {Error} For the same reasons as `startSipServer`.
 */
export async function startEmbeddedSipServer(
  options: SipServerOptions,
  onRefused: (refused: readonly RefusedInvite[]) => void = () => undefined,
): Promise<EmbeddedSipServer> {
  const worker = startThread(new URL('./worker.ts', import.meta.url), { workerData: options });
  const listeners = new Map<string, Set<(entries: readonly TraceEntry[]) => void>>();
  const asked = new Map<number, { resolve(stats: SipServerStats): void; reject(error: Error): void }>();
  let nextId = 1;
  let alive = true;
  let closing: Promise<void> | undefined;
  const post = (message: ToWorker): void => worker.postMessage(message);

  const started = new Promise<FromWorker & { type: 'started' }>((resolve, reject) => {
    worker.on('message', (message: FromWorker) => {
      if (message.type === 'started') resolve(message);
      else if (message.type === 'failed') reject(new Error(message.message));
      else if (message.type === 'stats') {
        asked.get(message.id)?.resolve(message.stats);
        asked.delete(message.id);
      } else if (message.type === 'trace') showTrace(listeners, message.entries);
      else if (message.type === 'refused') onRefused(message.refused);
    });
    worker.once('error', reject);
  });
  const ended = new Promise<Error>((resolve) => {
    worker.once('error', resolve);
    worker.once('exit', (code) => {
      alive = false;
      const error = new Error(`the SIP thread ended with code ${code}`);
      for (const one of asked.values()) one.reject(error);
      asked.clear();
      resolve(error);
    });
  });
  const { sipPorts, controlPort } = await started;

  return {
    sipPorts,
    controlPort,
    lost: ended.then((error) => (closing ? new Promise<Error>(() => undefined) : error)),
    setKnownPeers(peers) {
      // Throws here, not in the thread.
      peerList(peers);
      post({ type: 'set_known_peers', peers });
    },
    stats: () =>
      new Promise((resolve, reject) => {
        if (!alive) {
          reject(new Error('the SIP thread is gone'));
          return;
        }
        asked.set(nextId, { resolve, reject });
        post({ type: 'stats', id: nextId });
        nextId += 1;
      }),
    trace(callId, listener) {
      const set = listeners.get(callId) ?? new Set();
      if (set.size === 0) post({ type: 'follow', callId });
      listeners.set(callId, set.add(listener));
      return () => {
        if (!set.delete(listener) || set.size > 0) return;
        listeners.delete(callId);
        post({ type: 'unfollow', callId });
      };
    },
    close() {
      closing ??= new Promise<void>((resolve) => {
        if (!alive) {
          resolve();
          return;
        }
        worker.once('exit', () => resolve());
        post({ type: 'close' });
      });
      return closing;
    },
  };
}

function showTrace(
  listeners: ReadonlyMap<string, ReadonlySet<(entries: readonly TraceEntry[]) => void>>,
  entries: readonly TraceEntry[],
): void {
  for (const [callId, set] of listeners) {
    const own = entries.filter((entry) => entry.callId === callId);
    if (own.length > 0) for (const listener of set) listener(own);
  }
}
