/** An abort of one's own that also follows others. */
export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Stops following; idempotent. Without it a long-lived signal would keep every request that it was given to. */
  unlink(): void;
}

/** @param outers - The first of them that is aborted is followed, with its reason. */
export function linkAbort(...outers: readonly AbortSignal[]): LinkedAbort {
  const controller = new AbortController();
  const aborted = outers.find((outer) => outer.aborted);
  if (aborted) controller.abort(aborted.reason);
  const links = outers.map((outer) => {
    const follow = () => controller.abort(outer.reason);
    outer.addEventListener('abort', follow, { once: true });
    return () => outer.removeEventListener('abort', follow);
  });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink() {
      for (const unlink of links) unlink();
    },
  };
}
