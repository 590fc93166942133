import { CallwayError } from '../../base/errors.ts';
import { type KeyKind, type Scope, scope } from './apiKey.ts';

/** The operator, by the admin token: manages all projects and keys, and has no access to project data. */
interface AdminPrincipal {
  readonly kind: 'admin';
}

/** A client of one project, by one of its keys, or the operator who works in it from the console. */
export interface KeyPrincipal {
  readonly kind: KeyKind | 'operator';
  readonly keyId: string;
  readonly hint: string;
  readonly projectId: string;
  readonly scopes: readonly Scope[];
}

/**
 * A visitor of a web page with the widget. The token is public: it opens the chat and the voice of its project's agent, in
 * sessions that were begun with it, and nothing else.
 */
export interface WidgetPrincipal {
  readonly kind: 'widget';
  /** The token's. */
  readonly keyId: string;
  readonly hint: string;
  readonly projectId: string;
  /** Always empty. */
  readonly scopes: readonly Scope[];
  readonly allowedOrigins: readonly string[];
  readonly requestsPerMinute: number;
  readonly maxConcurrent: number;
  /** Epoch. */
  readonly expiresAtMs: number | null;
}

export type Principal = AdminPrincipal | KeyPrincipal | WidgetPrincipal;

/** The operator in a project, with all rights that a key of it may have. */
export function operatorIn(projectId: string): KeyPrincipal {
  return { kind: 'operator', keyId: 'operator', hint: 'operator', projectId, scopes: scope.options };
}

/** The author of a change, as stored in the audit log and in pathway versions. */
export function actorOf(principal: Principal): { kind: string; keyId?: string; hint?: string } {
  return principal.kind === 'admin' || principal.kind === 'operator'
    ? { kind: 'admin' }
    : { kind: principal.kind, keyId: principal.keyId, hint: principal.hint };
}

/**
 * Checks that the creator of a key has the scopes that it gives.
 *
 * @throws {CallwayError} 403 `missing_scope`
 */
export function requireOwnScopes(creator: Principal, given: readonly Scope[]): void {
  if (creator.kind === 'admin') return;
  const missing = given.filter((one) => !creator.scopes.includes(one));
  if (missing.length === 0) return;
  const message = `This key lacks the scopes that the new key would have: ${missing.join(', ')}`;
  throw new CallwayError('forbidden', 'missing_scope', message);
}
