/** Stops a node: whatever is started registers here how it is closed. */
export class Lifecycle {
  readonly #onError: (error: unknown) => void;
  readonly #closers: (() => Promise<void>)[] = [];
  #closing: Promise<void> | undefined;

  /** @param onError - Called when a part cannot be closed. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** What is started while the others are being closed is closed at once. */
  onClose(close: () => Promise<void>): void {
    if (this.#closing) void close().catch(this.#onError);
    else this.#closers.push(close);
  }

  /** Registers a part's own `close`. @returns The part. */
  closing<Part extends { close(): Promise<void> }>(part: Part): Part {
    this.onClose(() => part.close());
    return part;
  }

  /** Closes everything in reverse order. A failure does not stop the others. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#closeInReverse();
    return this.#closing;
  }

  async #closeInReverse(): Promise<void> {
    for (const close of this.#closers.reverse()) {
      await close().catch(this.#onError);
    }
  }
}

/**
 * Does the same as Promise.all, but waits for all parts before it rejects, so that all of them have registered how they
 * close.
 */
export async function startTogether<const Parts extends readonly unknown[]>(
  starting: Parts,
): Promise<{ -readonly [Index in keyof Parts]: Awaited<Parts[Index]> }> {
  await Promise.allSettled(starting);
  return await Promise.all(starting);
}
