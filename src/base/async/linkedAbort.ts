/** An abort controller that also follows other signals. */
export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  follow(outer: AbortSignal): void;
  /** Removes the listeners; idempotent. Without it a long-lived signal would retain every request. */
  unlink(): void;
}

/** @param outers - The first one that is aborted aborts this signal with its reason. */
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
