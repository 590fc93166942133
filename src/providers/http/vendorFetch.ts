import { Agent, type Dispatcher, fetch as undiciFetch } from 'undici';
import { guardedLookup } from '../../infra/httpClient/guardedLookup.ts';
import type { WebSocketGuard } from '../../infra/httpClient/webSocket.ts';

/** Keeps connections over the pauses of a conversation, so that a turn does not start with a TLS handshake. */
const KEEP_ALIVE_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;

/** Requests to one vendor, over connections of their own. */
export interface VendorFetch {
  readonly fetch: typeof fetch;
  /** Closes the connections; running requests fail. Idempotent. */
  close(): Promise<void>;
}

/** Without timeouts, which the callers have. @param guard - What the address of a user is held to. */
export function createVendorFetch(baseUrl: string, guard: WebSocketGuard | undefined): VendorFetch {
  const agent = new Agent({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      timeout: CONNECT_TIMEOUT_MS,
      ...(guard ? { lookup: guardedLookup(new URL(baseUrl), guard) } : {}),
    },
  });
  return { fetch: fetchOver(agent, guard ? 'error' : 'follow'), close: () => agent.destroy() };
}

/** Node's own fetch has the same code but other types, and cannot use these connections. */
function fetchOver(dispatcher: Dispatcher, redirect: 'error' | 'follow'): typeof fetch {
  const fetchWith = undiciFetch as unknown as (input: unknown, init: unknown) => Promise<Response>;
  return (input, init) => fetchWith(input, { ...init, redirect, dispatcher });
}
