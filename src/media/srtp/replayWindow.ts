/** RFC 3711 asks for 64 at least. */
const WINDOW_PACKETS = 128;
const NEVER = -1;

/**
 * Remembers accepted packets, to reject replayed ones.
 *
 * @see RFC 3711 section 3.3.2
 */
export class ReplayWindow {
  #highest = NEVER;
  readonly #seen = new Float64Array(WINDOW_PACKETS).fill(NEVER);

  /** @returns False for a packet that was accepted before or is older than the window. */
  isNew(index: number): boolean {
    return index > this.#highest - WINDOW_PACKETS && this.#seen[index % WINDOW_PACKETS] !== index;
  }

  /** Marks a packet as received. It must be called only for authentic packets. */
  accept(index: number): void {
    this.#seen[index % WINDOW_PACKETS] = index;
    if (index > this.#highest) this.#highest = index;
  }
}
