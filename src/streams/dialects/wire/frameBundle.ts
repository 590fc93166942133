/**
 * Of 20 ms, in one message of our own bridge. A message costs both processes far more than its samples do; that the
 * first of two frames waits for the second makes the engine hear 10 ms later in the mean, and a turn's end is heard
 * out for hundreds.
 */
const FRAMES_PER_MESSAGE = 2;

/** Gathers the caller's frames into messages of 40 ms. */
export interface FrameBundle {
  /** @param bytes - The next frame; copied. */
  add(bytes: Uint8Array): void;
  /** Sends what has been gathered: before whatever is to be understood as later than it. */
  flush(): void;
}

/** @param send - Given memory that is its own from then on. */
export function createFrameBundle(frameBytes: number, send: (message: Uint8Array) => void): FrameBundle {
  let message: Buffer | undefined;
  let filled = 0;
  const flush = () => {
    if (message === undefined) return;
    send(message.subarray(0, filled));
    message = undefined;
    filled = 0;
  };
  return {
    add(bytes) {
      message ??= Buffer.allocUnsafe(FRAMES_PER_MESSAGE * frameBytes);
      message.set(bytes, filled);
      filled += bytes.length;
      if (filled + frameBytes > message.length) flush();
    },
    flush,
  };
}
