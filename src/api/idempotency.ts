import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

import type { KeptAnswer } from '../agents/accounts/requestStores.ts';
import { CallwayError, invalid } from '../base/errors.ts';
import { principalOf } from './plugins/accessControl.ts';
import type { HttpDeps, Stores } from './ports.ts';

const REPLAYED_HEADER = 'idempotency-replayed';
const KEY_FORM = /^[\x21-\x7e]{1,255}$/;

export interface Creation<Body> {
  readonly status: number;
  /** Takes what is secret out of the answer that is kept. */
  readonly withoutSecrets?: (body: Body) => unknown;
}

/**
 * Does what a POST asks for, once: in one transaction that also keeps the answer under the request's
 * `Idempotency-Key`. A repetition, even one that runs at the same time, gets the kept answer; a failed attempt
 * keeps nothing and may be repeated.
 *
 * @throws {CallwayError} 409 `idempotency_key_reused` when the key came with another request before.
 */
export async function createOnce<Body>(
  deps: Pick<HttpDeps, 'storage' | 'clock'>,
  request: FastifyRequest,
  reply: FastifyReply,
  creation: Creation<Body>,
  work: (stores: Stores) => Promise<Body>,
): Promise<Body> {
  const key = keyOfRequest(request);
  reply.code(creation.status);
  if (key === undefined) return await deps.storage.transaction(work);

  return await deps.storage.transaction(async (stores) => {
    const kept = await claim(deps, request, stores, key);
    if (kept) return replay(reply, kept) as Body;
    const body = await work(stores);
    const shown = creation.withoutSecrets?.(body) ?? body;
    await stores.idempotency.keep(scopeOf(request), key, creation.status, shown);
    return body;
  });
}

/**
 * As {@link createOnce}, for work that keeps what it does by itself and therefore cannot share the transaction: the
 * answer is kept right after the work. A repetition that comes in between, or after a crash in between, runs the work
 * again; the work must bear that, by refusing what exists already or by doing no harm.
 *
 * @throws {CallwayError} 409 `idempotency_key_reused`
 */
export async function createOnceApart<Body>(
  deps: Pick<HttpDeps, 'storage' | 'clock'>,
  request: FastifyRequest,
  reply: FastifyReply,
  creation: Creation<Body>,
  work: () => Promise<Body>,
): Promise<Body> {
  const key = keyOfRequest(request);
  const kept = key === undefined ? undefined : await lookUp(deps, request, key);
  if (kept) return replay(reply, kept) as Body;
  const body = await work().catch(async (error: unknown) => {
    // The same request may have been faster on another connection: then its answer is the answer.
    const meanwhile = key === undefined ? undefined : await lookUp(deps, request, key);
    if (!meanwhile) throw error;
    return replay(reply, meanwhile) as Body;
  });
  if (reply.hasHeader(REPLAYED_HEADER)) return body;
  if (key === undefined) {
    reply.code(creation.status);
    return body;
  }
  return await createOnce(deps, request, reply, creation, async () => body);
}

/**
 * As {@link createOnce}, for work that has more to do around its transaction than fits into it.
 *
 * @param work - Gets the transaction, to run it once: what that gives back may be an earlier answer.
 * @throws {CallwayError} 409 `idempotency_key_reused`
 */
export async function createOnceAround<Body>(
  deps: Pick<HttpDeps, 'storage' | 'clock'>,
  request: FastifyRequest,
  reply: FastifyReply,
  creation: Creation<Body>,
  work: (keep: (insert: (stores: Stores) => Promise<Body>) => Promise<Body>) => Promise<Body>,
): Promise<Body> {
  const key = keyOfRequest(request);
  const kept = key === undefined ? undefined : await lookUp(deps, request, key);
  if (kept) return replay(reply, kept) as Body;
  return await work((insert) => createOnce(deps, request, reply, creation, insert)).catch(
    async (error: unknown) => {
      // The same request may have been faster on another connection: then its answer is the answer.
      const meanwhile = key === undefined ? undefined : await lookUp(deps, request, key);
      if (!meanwhile) throw error;
      return replay(reply, meanwhile) as Body;
    },
  );
}

/** Leaves no claim behind, since the work comes between looking and keeping. */
async function lookUp(
  deps: Pick<HttpDeps, 'storage' | 'clock'>,
  request: FastifyRequest,
  key: string,
): Promise<KeptAnswer | undefined> {
  const nothingKept = new Error('nothing is kept under this key');
  try {
    return await deps.storage.transaction(async (stores) => {
      const kept = await claim(deps, request, stores, key);
      if (!kept) throw nothingKept;
      return kept;
    });
  } catch (error) {
    if (error !== nothingKept) throw error;
    return undefined;
  }
}

async function claim(
  deps: Pick<HttpDeps, 'clock'>,
  request: FastifyRequest,
  stores: Stores,
  key: string,
): Promise<KeptAnswer | undefined> {
  const fingerprint = fingerprintOf(request);
  const now = new Date(deps.clock.now());
  const kept = await stores.idempotency.claim(scopeOf(request), key, fingerprint, now);
  if (kept && kept.fingerprint !== fingerprint) {
    throw new CallwayError(
      'conflict',
      'idempotency_key_reused',
      'This Idempotency-Key came with another request before; use a new one',
    );
  }
  return kept;
}

function replay(reply: FastifyReply, kept: KeptAnswer): unknown {
  reply.code(kept.status).header(REPLAYED_HEADER, 'true');
  return kept.body;
}

function keyOfRequest(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !KEY_FORM.test(header)) {
    throw invalid('invalid_idempotency_key', 'Idempotency-Key must be 1 to 255 printable ASCII characters');
  }
  return header;
}

function scopeOf(request: FastifyRequest): string {
  const principal = principalOf(request);
  return principal.kind === 'admin' ? 'admin' : principal.projectId;
}

/** The same for the same request, however its JSON is spaced and ordered. */
function fingerprintOf(request: FastifyRequest): string {
  const [path] = request.url.split('?');
  return createHash('sha256')
    .update(`${request.method} ${path} ${JSON.stringify(sorted(request.body)) ?? ''}`)
    .digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
