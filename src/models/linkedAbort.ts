/** An abort of one's own that also follows another's. */
export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Stops following; idempotent. Without it a long-lived signal would keep every request that it was given to. */
  unlink(): void;
}

export function linkAbort(outer: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  const follow = () => controller.abort(outer.reason);
  if (outer.aborted) follow();
  else outer.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => outer.removeEventListener('abort', follow),
  };
}
