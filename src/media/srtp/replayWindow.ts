/** More than any network reorders; RFC 3711 asks for 64 at least. */
const WINDOW_PACKETS = 128;
const NEVER = -1;

/**
 * Remembers which packets were taken, so that a copy of one is not taken again.
 *
 * @see RFC 3711 section 3.3.2
 */
export class ReplayWindow {
  #highest = NEVER;
  readonly #seen = new Float64Array(WINDOW_PACKETS).fill(NEVER);

  /** @returns False for a packet that was taken before, or is too old to tell. Changes nothing. */
  mayTake(index: number): boolean {
    return index > this.#highest - WINDOW_PACKETS && this.#seen[index % WINDOW_PACKETS] !== index;
  }

  /** Call once the packet has proved to be authentic. */
  take(index: number): void {
    this.#seen[index % WINDOW_PACKETS] = index;
    if (index > this.#highest) this.#highest = index;
  }
}
