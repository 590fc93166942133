/** Who did it, as the audit log and the versions of a pathway keep it. */
export function actorOf(principal) {
  return principal.kind === 'admin'
    ? { kind: 'admin' }
    : { kind: principal.kind, keyId: principal.keyId, hint: principal.hint };
}
