/**
 * Resolves after `delayMs`; rejects with the signal's reason as soon as `signal` is aborted.
 * The timer does not keep the process alive unless `keepAlive` is set.
 */
export function delay(delayMs, options = {}) {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, delayMs);
    if (!options.keepAlive) timer.unref();
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
