const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed',
  ENOTFOUND: 'unknown host name',
  EAI_AGAIN: 'the host name cannot be resolved',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'host unreachable',
};

/** Describes a failed connection by its root cause. */
export function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return failureReason(error.cause);
  if (error.name === 'TimeoutError') return 'timeout';
  // A host name with several addresses gives one error for each.
  const [first] = error instanceof AggregateError ? error.errors : [];
  if (first !== undefined) return failureReason(first);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return REASONS[code] ?? (error.message || code);
}
