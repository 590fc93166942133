/** Pairs of UDP ports: an even one for RTP, the next for RTCP. @see RFC 3550 section 11 */
export class PortPool {
  /** A ring of even ports, the free ones first in the order of their release. */
  readonly #ports: number[];
  readonly #taken = new Set<number>();
  #head = 0;

  /** @param max - Last port of the range, RTCP's included. */
  constructor({ min, max }: { readonly min: number; readonly max: number }) {
    const first = min + (min % 2);
    const pairs = Math.max(0, Math.floor((max - first + 1) / 2));
    this.#ports = Array.from({ length: pairs }, (_, index) => first + 2 * index);
  }

  /** The number of pairs. */
  get size(): number {
    return this.#ports.length;
  }

  /**
   * @returns The even port that has been free for the longest, so that it gets no late packets; undefined without one.
   */
  take(): number | undefined {
    const port = this.#ports[this.#head];
    if (this.#taken.size === this.size || port === undefined) return undefined;
    this.#head = (this.#head + 1) % this.size;
    this.#taken.add(port);
    return port;
  }

  /** Idempotent. */
  free(port: number): void {
    if (!this.#taken.has(port)) return;
    this.#ports[(this.#head + this.size - this.#taken.size) % this.size] = port;
    this.#taken.delete(port);
  }
}
