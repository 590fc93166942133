/** A message costs both processes far more than its samples, and a mean delay of 10 ms is small beside endpointing. */
const FRAMES_PER_MESSAGE = 2;

/** Bundles the caller's frames into messages of 40 ms, for our own voice nodes. */
export interface FrameBundle {
  /** @param bytes - The next 20 ms; copied. */
  add(bytes: Uint8Array): void;
  /** Sends the bundled frames; call before each message about them. */
  flush(): void;
}

/** @param send - Owns the message. */
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
