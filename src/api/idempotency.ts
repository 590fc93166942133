import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

import type { StoredResponse } from '../agents/accounts/accountStores.ts';
import { CallwayError, invalid, isUnavailable } from '../base/errors.ts';
import type { HeldLock } from '../engine/session/sessionLock.ts';
import { principalOf } from './plugins/accessControl.ts';
import type { HttpDeps, Stores } from './ports.ts';

const REPLAYED_HEADER = 'idempotency-replayed';
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/;

/** A POST and how it is answered. */
export interface IdempotentRequest<Body> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The HTTP status of the first response and of its repetitions. */
  readonly status: number;
  /** Removes secrets from the response that is stored for repetitions. */
  readonly withoutSecrets?: ((body: Body) => unknown) | undefined;
  /** The session whose words or numbers the response may have: the stored response is removed with the session. */
  readonly sessionOf?: ((body: Body, stores: Stores) => Promise<string | undefined>) | undefined;
}

/**
 * Runs the work of a POST once per `Idempotency-Key`, in the transaction that also stores its response. A repetition,
 * even a concurrent one, gets the stored response. A failed request stores nothing and may be repeated.
 *
 * @throws {CallwayError} 409 `idempotency_key_reused` when the key was used with another request.
 */
export async function idempotent<Body>(
  deps: HttpDeps,
  post: IdempotentRequest<Body>,
  work: (stores: Stores) => Promise<Body>,
): Promise<Body> {
  const { request, reply, status, withoutSecrets, sessionOf } = post;
  const key = idempotencyKey(request);
  reply.code(status);
  if (key === undefined) return await deps.storage.transaction(work);
  return await deps.storage.transaction(async (stores) => {
    const stored = await claim(deps, request, stores, key);
    if (stored) return replay<Body>(reply, stored);
    const body = await work(stores);
    const scope = scopeOf(request);
    const sessionId = await sessionOf?.(body, stores);
    const session = sessionId === undefined ? undefined : { projectId: scope, sessionId };
    await stores.idempotency.keep(scope, key, { status, body: withoutSecrets?.(body) ?? body }, session);
    return body;
  });
}

/**
 * Does the same as {@link idempotent} for work that has steps outside the transaction. A repetition that arrives
 * meanwhile waits for the first request. When a node dies at work its lock expires, and the work runs again, so it must
 * refuse what exists already, or be harmless.
 *
 * @param work - Calls `store` once, with what belongs into the transaction; that may return an earlier response.
 * @throws {CallwayError} 409 `idempotency_key_reused`, `idempotency_key_in_use` after the longest wait
 */
export async function idempotentAround<Body>(
  deps: HttpDeps,
  post: IdempotentRequest<Body>,
  work: (store: (insert: (stores: Stores) => Promise<Body>) => Promise<Body>) => Promise<Body>,
): Promise<Body> {
  const { request, reply } = post;
  const key = idempotencyKey(request);
  const run = () => work((insert) => idempotent(deps, post, insert));
  if (key === undefined) return await run();
  const lock = await lockKey(deps, request, key);
  try {
    const stored = await findStored(deps, request, key);
    return stored ? replay<Body>(reply, stored) : await run();
  } finally {
    await lock.release();
  }
}

async function lockKey(
  { access: { requestLock } }: HttpDeps,
  request: FastifyRequest,
  key: string,
): Promise<HeldLock> {
  try {
    return await requestLock.acquire(`idempotency ${scopeOf(request)}`, key);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    const message = 'The first request with this Idempotency-Key is still at work; try again in a moment';
    throw new CallwayError('conflict', 'idempotency_key_in_use', message, { cause: error });
  }
}

/** Looks a response up without leaving a claim. */
async function findStored(
  deps: HttpDeps,
  request: FastifyRequest,
  key: string,
): Promise<StoredResponse | undefined> {
  const rollBack = new Error('no response is stored under this key');
  try {
    return await deps.storage.transaction(async (stores) => {
      const stored = await claim(deps, request, stores, key);
      if (!stored) throw rollBack;
      return stored;
    });
  } catch (error) {
    if (error !== rollBack) throw error;
    return undefined;
  }
}

async function claim(
  deps: HttpDeps,
  request: FastifyRequest,
  stores: Stores,
  key: string,
): Promise<StoredResponse | undefined> {
  const fingerprint = fingerprintOf(request);
  const now = new Date(deps.clock.now());
  const stored = await stores.idempotency.claim(scopeOf(request), key, fingerprint, now);
  if (stored && stored.fingerprint !== fingerprint) {
    throw new CallwayError(
      'conflict',
      'idempotency_key_reused',
      'This Idempotency-Key was used with another request; use a new one',
    );
  }
  return stored;
}

function replay<Body>(reply: FastifyReply, { status, body }: StoredResponse): Body {
  reply.code(status).header(REPLAYED_HEADER, 'true');
  return body as Body;
}

function idempotencyKey(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !KEY_PATTERN.test(header)) {
    throw invalid('invalid_idempotency_key', 'Idempotency-Key must be 1 to 255 printable ASCII characters');
  }
  return header;
}

function scopeOf(request: FastifyRequest): string {
  const principal = principalOf(request);
  return principal.kind === 'admin' ? 'admin' : principal.projectId;
}

/** Equal for equal requests, whatever the spacing and key order of their JSON. */
function fingerprintOf(request: FastifyRequest): string {
  const [path] = request.url.split('?');
  return createHash('sha256')
    .update(`${request.method} ${path} ${JSON.stringify(withSortedKeys(request.body)) ?? ''}`)
    .digest('hex');
}

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, withSortedKeys(item)]),
  );
}
