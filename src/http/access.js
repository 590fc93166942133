import { CallwayError } from '../base/errors.js';
/**
 * Lets a request in, or says why not. Runs before the body is read, so that a stranger's body never is.
 *
 * @throws {CallwayError} At once, or in what is to be waited for.
 */
export function createGate(deps) {
  const { authenticator, rateLimiter, settings } = deps;
  const refuse = async (request, error) => {
    const allowance = await rateLimiter.take(failuresOf(request), settings.failedAuthPerMinute);
    throw allowance.allowed ? error : tooMany(allowance.retryAfterSeconds, 'refused credentials');
  };
  const lookUp = async (request, credential) => {
    // A source that has failed too often may not make us look up more; a key that works is remembered from before.
    const allowance = rateLimiter.isExhausted(failuresOf(request));
    if (!allowance.allowed) throw tooMany(allowance.retryAfterSeconds, 'refused credentials');
    const found = await authenticator.authenticate(credential);
    return found ?? (await refuse(request, INVALID_CREDENTIAL()));
  };
  const admit = (request, access, principal) => {
    const problem = judge(access, principal, projectOf(request));
    if (problem?.category === 'unauthenticated') return refuse(request, problem);
    if (problem) throw problem;
    request.principal = principal;
    if (principal.kind === 'admin') return undefined;
    const allowance = rateLimiter.take(`key:${principal.keyId}`, settings.rateLimitPerMinute);
    return 'allowed' in allowance ? requireAllowed(allowance) : allowance.then(requireAllowed);
  };
  return function gate(request) {
    const access = request.route.config.access ?? { kind: 'public' };
    if (access.kind === 'public') return undefined;
    const credential = access.kind === 'knowledge' ? apiKey(request) : bearer(request);
    if (credential === undefined) return refuse(request, MISSING_CREDENTIAL(access));
    const known = authenticator.recall(credential);
    if (known) return admit(request, access, known);
    return lookUp(request, credential).then((principal) => admit(request, access, principal));
  };
}
/** The key that called; on routes that only keys may call. */
export function keyOf(request) {
  if (!request.principal || request.principal.kind === 'admin') throw INVALID_CREDENTIAL();
  return request.principal;
}
/** Who called, on routes that are not public. */
export function principalOf(request) {
  if (!request.principal) throw INVALID_CREDENTIAL();
  return request.principal;
}
/**
 * For routes that name their project in the body.
 *
 * @throws {CallwayError} 401 where the key is another project's, as on another project's path.
 */
export function requireProject(request, projectId) {
  if (keyOf(request).projectId !== projectId) throw INVALID_CREDENTIAL();
}
function judge(access, principal, projectId) {
  if (access.kind === 'public') return undefined;
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
function bearer(request) {
  const [, credential] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
  return credential;
}
function apiKey(request) {
  const header = request.headers['x-api-key'];
  return typeof header === 'string' && header !== '' ? header : undefined;
}
function projectOf(request) {
  return request.params.projectId;
}
const failuresOf = (request) => `failed:${request.ip}`;
function unauthenticated(code, message) {
  return new CallwayError('unauthenticated', code, message);
}
const MISSING_CREDENTIAL = ({ kind }) =>
  unauthenticated(
    'missing_credential',
    `Send the header ${kind === 'knowledge' ? 'x-api-key: <key>' : 'Authorization: Bearer <key>'}`,
  );
const INVALID_CREDENTIAL = () => unauthenticated('invalid_credential', 'The credential is not valid here');
function requireAllowed(allowance) {
  if (!allowance.allowed) throw tooMany(allowance.retryAfterSeconds, 'requests with this key');
}
function tooMany(retryAfterSeconds, what) {
  return new CallwayError(
    'rate_limited',
    'rate_limited',
    `Too many ${what}; try again in ${retryAfterSeconds} s`,
    {
      retryAfterSeconds,
    },
  );
}
