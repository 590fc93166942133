/** An abort of one's own that also follows others. */
export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Follows one more. */
  follow(outer: AbortSignal): void;
  /** Stops following; idempotent. Without it a long-lived signal would keep every request that it was given to. */
  unlink(): void;
}

/** @param outers - The first of them that is aborted is followed, with its reason. */
export function linkAbort(...outers: readonly AbortSignal[]): LinkedAbort {
  const controller = new AbortController();
  const links: (() => void)[] = [];
  const follow = (outer: AbortSignal) => {
    const abort = () => controller.abort(outer.reason);
    if (outer.aborted) return abort();
    outer.addEventListener('abort', abort, { once: true });
    links.push(() => outer.removeEventListener('abort', abort));
  };
  for (const outer of outers) follow(outer);
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    follow,
    unlink() {
      for (const unlink of links.splice(0)) unlink();
    },
  };
}
