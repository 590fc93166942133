import type { KeyKind, Scope } from './apiKey.ts';

/** The operator, by the admin token: may manage all projects and their keys, and use none of their data routes. */
export interface AdminPrincipal {
  readonly kind: 'admin';
}

/** A program of one project, by one of its keys. */
export interface KeyPrincipal {
  readonly kind: KeyKind;
  readonly keyId: string;
  readonly hint: string;
  readonly projectId: string;
  readonly scopes: readonly Scope[];
}

export type Principal = AdminPrincipal | KeyPrincipal;

/** Who did it, as the audit log and the versions of a pathway keep it. */
export function actorOf(principal: Principal): { kind: string; keyId?: string; hint?: string } {
  return principal.kind === 'admin'
    ? { kind: 'admin' }
    : { kind: principal.kind, keyId: principal.keyId, hint: principal.hint };
}
