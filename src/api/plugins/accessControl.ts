import type { FastifyRequest } from 'fastify';
import type { Scope } from '../../agents/accounts/apiKey.ts';
import {
  type KeyPrincipal,
  operatorIn,
  type Principal,
  type WidgetPrincipal,
} from '../../agents/accounts/principal.ts';
import { limitConcurrency } from '../../base/async/limitConcurrency.ts';
import { CallwayError, invalid, notFound, unavailable } from '../../base/errors.ts';
import { clientNetwork } from '../clientNetwork.ts';
import type { App, Dependency, HttpDeps, Stores } from '../ports.ts';
import { rateLimited, requireAllowed } from '../sourceLimits.ts';
import { consoleCookieOf, requireConsoleHeader } from './consoleCookie.ts';
import { admitVisitor } from './widgetAccess.ts';

/** Names the credentials that a route accepts. */
export type Access =
  /** No credential is needed. */
  | { readonly kind: 'public' }
  /** The operator's admin token. */
  | { readonly kind: 'admin' }
  /** The admin token, or a developer key of the project with the scope `keys:write`. */
  | { readonly kind: 'manage' }
  /** A key of the project in the path; with `admin` the admin token too, with `widget` a widget's token. */
  | { readonly kind: 'project'; readonly scope: Scope; readonly admin?: boolean; readonly widget?: true }
  /** A key of any project; the handler checks which one. @see requireProject */
  | { readonly kind: 'key'; readonly scope: Scope }
  /** A secret key of the project in the path, on legacy routes. */
  | { readonly kind: 'legacy'; readonly scope: Scope }
  /** A secret key in the header `x-api-key`; the key determines the project, the path does not name one. */
  | { readonly kind: 'knowledge'; readonly scope: Scope };
type ProtectedAccess = Exclude<Access, { kind: 'public' }>;

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated caller; undefined on public routes. */
    principal: Principal | undefined;
  }
  interface FastifyContextConfig {
    /** Default: public. */
    access?: Access;
  }
  interface FastifyInstance {
    /** @throws {CallwayError} 401, and 429 for an address with too many failures. */
    authenticate(request: FastifyRequest, credential: string): Principal | Promise<Principal>;
  }
}

/** Lookups for addresses with too many failures: they share these, and wait their turn, some milliseconds. */
const SUSPECT_LOOKUPS = 2;
const MAX_WAITING_LOOKUPS = 200;
/** The header of the console's sessions that names the operator's project on routes whose path names none. */
const PROJECT_HEADER = 'x-callway-project';

/**
 * Authenticates, authorizes and rate-limits requests of routes with an `access` configuration, before the body is read.
 * Answers 503 while a dependency is known to be down.
 */
export function accessControl(app: App, deps: HttpDeps): void {
  const {
    access: { authenticator, rateLimiter },
    settings,
  } = deps;

  /** Counts a failed authentication by the client's address. */
  const rejected = async (request: FastifyRequest, error: CallwayError): Promise<CallwayError> => {
    const allowance = await rateLimiter.take(failureKey(request), settings.failedAuthPerMinute);
    return allowance.allowed ? error : tooManyFailures(allowance.retryAfterSeconds);
  };

  const asSuspect = limitConcurrency({
    running: SUSPECT_LOOKUPS,
    waiting: MAX_WAITING_LOOKUPS,
    full: () => tooManyFailures(1),
  });

  /**
   * An address with too many failures causes few database lookups at a time, but for keys that were valid before. None
   * is refused unseen: others share the address, behind a NAT.
   */
  const lookUp = async (request: FastifyRequest, credential: string): Promise<Principal> => {
    const isSuspect =
      !rateLimiter.isExhausted(failureKey(request)).allowed && !authenticator.isKnown(credential);
    const authenticate = () => authenticator.authenticate(credential);
    const found = await (isSuspect ? asSuspect(authenticate) : authenticate());
    if (!found) throw await rejected(request, invalidCredential());
    return found;
  };

  const authenticate = (request: FastifyRequest, credential: string): Principal | Promise<Principal> =>
    authenticator.authenticateFromCache(credential) ?? lookUp(request, credential);
  const ofSession = async (request: FastifyRequest, access: ProtectedAccess): Promise<Principal> => {
    const sessionId = consoleCookieOf(request);
    if (sessionId === undefined) throw await rejected(request, missingCredential(access));
    const credential = await deps.access.consoleSessions.find(sessionId);
    if (credential === undefined) throw invalidCredential();
    requireConsoleHeader(request);
    const principal = await authenticate(request, credential);
    return principal.kind === 'admin' ? await operatorAt(access, request, deps.storage.stores) : principal;
  };

  const principalOfRequest = (request: FastifyRequest, access: ProtectedAccess) => {
    const credential = access.kind === 'knowledge' ? apiKeyHeader(request) : bearerToken(request);
    return credential === undefined ? ofSession(request, access) : authenticate(request, credential);
  };

  app.decorate('authenticate', authenticate);
  app.decorateRequest('principal', undefined);
  app.addHook('onRequest', async (request, reply) => {
    const { access } = request.routeOptions.config;
    if (!access || access.kind === 'public') return;
    requireDependencies(deps.operations.dependencies);
    const principal = await principalOfRequest(request, access);
    const problem = authorize(access, principal, projectIdOf(request));
    if (problem) throw problem.category === 'unauthenticated' ? await rejected(request, problem) : problem;
    request.principal = principal;
    if (principal.kind === 'admin' || principal.kind === 'operator') return;
    const { keyId, projectId } = principal;
    const isVisitor = principal.kind === 'widget';
    if (isVisitor) admitVisitor(request, reply, principal, deps.clock.now());
    const perMinute = isVisitor ? principal.requestsPerMinute : settings.rateLimitPerMinute;
    requireAllowed('requests with this key', await rateLimiter.take(keyId, perMinute));
    const ofProject = await rateLimiter.take(`project:${projectId}`, settings.projectRateLimitPerMinute);
    requireAllowed('requests of this project', ofProject);
  });
}

/** The operator of a console's session: as such where the route knows one, else in the project that the request names. */
async function operatorAt(
  access: ProtectedAccess,
  request: FastifyRequest,
  stores: Stores,
): Promise<Principal> {
  const isOperators = access.kind === 'admin' || access.kind === 'manage';
  if (isOperators || (access.kind === 'project' && access.admin)) return { kind: 'admin' };
  const projectId = projectIdOf(request) ?? request.headers[PROJECT_HEADER];
  if (typeof projectId !== 'string')
    throw invalid('project_required', 'Name the project in the header X-Callway-Project');
  if (!(await stores.projects.find(projectId))) throw notFound('Project');
  return operatorIn(projectId);
}

/** The calling key, or a widget's token, on routes that accept no admin token. */
export function keyOf(request: FastifyRequest): KeyPrincipal | WidgetPrincipal {
  if (!request.principal || request.principal.kind === 'admin') throw invalidCredential();
  return request.principal;
}

/** Whether the key of a running request is still valid. @throws {CallwayError} While the database is away. */
export async function isStillAuthenticated(
  { authenticator, consoleSessions }: HttpDeps['access'],
  request: FastifyRequest,
): Promise<boolean> {
  const sessionId = consoleCookieOf(request);
  const signedIn = sessionId === undefined ? undefined : await consoleSessions.find(sessionId);
  const credential = bearerToken(request) ?? signedIn;
  return credential !== undefined && (await authenticator.authenticate(credential)) !== undefined;
}

/** The caller, on routes that are not public. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw invalidCredential();
  return request.principal;
}

/** Whether stored header values are shown: who may change an address could have them sent anyway. */
export function maySeeSecrets(request: FastifyRequest): boolean {
  const principal = principalOf(request);
  return principal.kind === 'admin' || principal.scopes.includes('write');
}

/**
 * Checks the project on routes whose body names it.
 *
 * @throws {CallwayError} 401 when the key belongs to another project, as on another project's path.
 */
export function requireProject(request: FastifyRequest, projectId: string): void {
  if (keyOf(request).projectId !== projectId) throw invalidCredential();
}

function authorize(
  access: ProtectedAccess,
  principal: Principal,
  projectId: string | undefined,
): CallwayError | undefined {
  if (principal.kind === 'admin') {
    const isAllowed =
      access.kind === 'admin' || access.kind === 'manage' || (access.kind === 'project' && access.admin);
    return isAllowed ? undefined : invalidCredential();
  }
  const isAnyProject = access.kind === 'key' || access.kind === 'knowledge';
  const isOwnProject = isAnyProject || principal.projectId === projectId;
  if (access.kind === 'admin' || !isOwnProject) return invalidCredential();
  const needsSecretKey = access.kind === 'legacy' || access.kind === 'knowledge';
  if (needsSecretKey && (principal.kind === 'developer' || principal.kind === 'widget'))
    return invalidCredential();
  if (principal.kind === 'widget' && access.kind === 'project' && access.widget) return undefined;
  const scope = access.kind === 'manage' ? 'keys:write' : access.scope;
  return principal.scopes.includes(scope)
    ? undefined
    : new CallwayError('forbidden', 'missing_scope', `This key lacks the scope ${scope}`);
}

/** @throws {CallwayError} 503 while a dependency is known to be down. */
function requireDependencies(dependencies: readonly Dependency[]): void {
  for (const dependency of dependencies) if (dependency.isDown?.()) throw unavailable(dependency.name);
}

function bearerToken(request: FastifyRequest): string | undefined {
  const [, token] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
  return token;
}

function apiKeyHeader(request: FastifyRequest): string | undefined {
  const header = request.headers['x-api-key'];
  return typeof header === 'string' && header !== '' ? header : undefined;
}

function projectIdOf(request: FastifyRequest): string | undefined {
  return (request.params as { projectId?: string }).projectId;
}

function failureKey(request: FastifyRequest): string {
  return `failed:${clientNetwork(request.ip)}`;
}

function missingCredential({ kind }: Access): CallwayError {
  const header = kind === 'knowledge' ? 'x-api-key: <key>' : 'Authorization: Bearer <key>';
  return new CallwayError('unauthenticated', 'missing_credential', `Send the header ${header}`);
}

export function invalidCredential(): CallwayError {
  return new CallwayError('unauthenticated', 'invalid_credential', 'The credential is not valid here');
}

function tooManyFailures(retryAfterSeconds: number): CallwayError {
  return rateLimited('rejected credentials', retryAfterSeconds);
}
