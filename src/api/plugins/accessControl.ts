import type { FastifyRequest } from 'fastify';
import type { ApiAuthenticator } from '../../agents/accounts/apiAuthenticator.ts';
import type { Scope } from '../../agents/accounts/apiKey.ts';
import type { KeyPrincipal, Principal } from '../../agents/accounts/principal.ts';
import type { Allowance, RateLimiter } from '../../agents/accounts/rateLimiter.ts';
import { CallwayError } from '../../base/errors.ts';
import type { HttpSettings } from '../ports.ts';

/** Who may call a route. */
export type Access =
  /** Anybody. */
  | { readonly kind: 'public' }
  /** The operator. */
  | { readonly kind: 'admin' }
  /** The operator, or a developer key of the project with the scope `keys:write`. */
  | { readonly kind: 'manage' }
  /** A key of the project in the path; `admin` lets the operator in as well. */
  | { readonly kind: 'project'; readonly scope: Scope; readonly admin?: boolean }
  /** A key of any project: the handler looks to which. @see requireProject */
  | { readonly kind: 'key'; readonly scope: Scope }
  /** A secret key of the project in the path, on the legacy routes. */
  | { readonly kind: 'legacy'; readonly scope: Scope }
  /** A secret key in the header `x-api-key`, which names the project too: the path does not. */
  | { readonly kind: 'knowledge'; readonly scope: Scope };

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls; on public routes nobody. */
    principal: Principal | undefined;
  }
  interface FastifyContextConfig {
    access?: Access;
  }
}

export interface GateDeps {
  readonly authenticator: ApiAuthenticator;
  readonly rateLimiter: RateLimiter;
  readonly settings: Pick<HttpSettings, 'rateLimitPerMinute' | 'failedAuthPerMinute'>;
}

/** Makes the gates of routes; public ones have none. They come before the body is read, so that a stranger's never is. */
export function createGate(deps: GateDeps) {
  const { authenticator, rateLimiter, settings } = deps;

  const refuse = async (request: FastifyRequest, error: CallwayError): Promise<never> => {
    const allowance = await rateLimiter.take(failuresOf(request), settings.failedAuthPerMinute);
    throw allowance.allowed ? error : tooMany(allowance.retryAfterSeconds, 'refused credentials');
  };

  const lookUp = async (request: FastifyRequest, credential: string): Promise<Principal> => {
    // A source that has failed too often may not make us look up more; a key that works is remembered from before.
    const allowance = rateLimiter.isExhausted(failuresOf(request));
    if (!allowance.allowed) throw tooMany(allowance.retryAfterSeconds, 'refused credentials');
    const found = await authenticator.authenticate(credential);
    return found ?? (await refuse(request, INVALID_CREDENTIAL()));
  };

  const admit = (request: FastifyRequest, access: Closed, principal: Principal): Waiting => {
    const problem = judge(access, principal, projectOf(request));
    if (problem?.category === 'unauthenticated') return refuse(request, problem);
    if (problem) throw problem;
    request.principal = principal;
    if (principal.kind === 'admin') return undefined;
    const allowance = rateLimiter.take(principal.keyId, settings.rateLimitPerMinute);
    return 'allowed' in allowance ? requireAllowed(allowance) : allowance.then(requireAllowed);
  };

  return function gateOf(access: Access): Gate | undefined {
    if (access.kind === 'public') return undefined;
    const credentialOf = access.kind === 'knowledge' ? apiKey : bearer;
    return (request) => {
      const credential = credentialOf(request);
      if (credential === undefined) return refuse(request, MISSING_CREDENTIAL(access));
      const known = authenticator.authenticateFromCache(credential);
      if (known) return admit(request, access, known);
      return lookUp(request, credential).then((principal) => admit(request, access, principal));
    };
  };
}

/** Of a route that is not for anybody. */
type Closed = Exclude<Access, { kind: 'public' }>;

/**
 * Lets a request in, or says why not.
 *
 * @throws {CallwayError} At once, or in what is to be waited for.
 */
type Gate = (request: FastifyRequest) => Waiting;

/** What is still to be waited for; nothing, most of the time, and then a request should not wait for a promise. */
type Waiting = Promise<void> | undefined;

/** The key that called; on routes that only keys may call. */
export function keyOf(request: FastifyRequest): KeyPrincipal {
  if (!request.principal || request.principal.kind === 'admin') throw INVALID_CREDENTIAL();
  return request.principal;
}

/** Who called, on routes that are not public. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw INVALID_CREDENTIAL();
  return request.principal;
}

/**
 * For routes that name their project in the body.
 *
 * @throws {CallwayError} 401 where the key is another project's, as on another project's path.
 */
export function requireProject(request: FastifyRequest, projectId: string): void {
  if (keyOf(request).projectId !== projectId) throw INVALID_CREDENTIAL();
}

function judge(
  access: Closed,
  principal: Principal,
  projectId: string | undefined,
): CallwayError | undefined {
  if (principal.kind === 'admin') {
    const welcome =
      access.kind === 'admin' || access.kind === 'manage' || (access.kind === 'project' && access.admin);
    return welcome ? undefined : INVALID_CREDENTIAL();
  }
  const namesNoProject = access.kind === 'key' || access.kind === 'knowledge';
  const isTheirs = namesNoProject || principal.projectId === projectId;
  if (access.kind === 'admin' || !isTheirs) return INVALID_CREDENTIAL();
  const isForSecretKeys = access.kind === 'legacy' || access.kind === 'knowledge';
  if (isForSecretKeys && principal.kind !== 'secret') return INVALID_CREDENTIAL();
  const scope = access.kind === 'manage' ? 'keys:write' : access.scope;
  return principal.scopes.includes(scope)
    ? undefined
    : new CallwayError('forbidden', 'missing_scope', `This key lacks the scope ${scope}`);
}

function bearer(request: FastifyRequest): string | undefined {
  const [, credential] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
  return credential;
}

function apiKey(request: FastifyRequest): string | undefined {
  const header = request.headers['x-api-key'];
  return typeof header === 'string' && header !== '' ? header : undefined;
}

function projectOf(request: FastifyRequest): string | undefined {
  return (request.params as { projectId?: string }).projectId;
}

const failuresOf = (request: FastifyRequest) => `failed:${request.ip}`;

function unauthenticated(code: string, message: string): CallwayError {
  return new CallwayError('unauthenticated', code, message);
}

const MISSING_CREDENTIAL = ({ kind }: Access) =>
  unauthenticated(
    'missing_credential',
    `Send the header ${kind === 'knowledge' ? 'x-api-key: <key>' : 'Authorization: Bearer <key>'}`,
  );

const INVALID_CREDENTIAL = () => unauthenticated('invalid_credential', 'The credential is not valid here');

function requireAllowed(allowance: Allowance): undefined {
  if (!allowance.allowed) throw tooMany(allowance.retryAfterSeconds, 'requests with this key');
}

function tooMany(retryAfterSeconds: number, what: string): CallwayError {
  return new CallwayError(
    'rate_limited',
    'rate_limited',
    `Too many ${what}; try again in ${retryAfterSeconds} s`,
    {
      retryAfterSeconds,
    },
  );
}
