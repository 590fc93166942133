const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed',
  ENOTFOUND: 'unknown host name',
  EAI_AGAIN: 'the host name cannot be looked up',
  ETIMEDOUT: 'no answer in time',
  EHOSTUNREACH: 'no way to that host',
};

/** Why a connection did not come about, in a few words; what wraps the reason is passed over. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  if (error.name === 'TimeoutError') return 'no answer in time';
  // Several addresses of one name were tried.
  const [first] = error instanceof AggregateError ? error.errors : [];
  if (first !== undefined) return reasonOf(first);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return REASONS[code] ?? (error.message || code);
}
