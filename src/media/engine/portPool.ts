/** Pairs of UDP ports: an even one for RTP, the next for RTCP. @see RFC 3550 section 11 */
export interface PortPool {
  /** @returns The even port; undefined when all are taken. The longest unused comes first, so that none hears its past. */
  take(): number | undefined;
  /** Gives a pair back. */
  free(port: number): void;
  /** Pairs in all. */
  readonly size: number;
}

/** @param max - Last port of the range, that of a pair's RTCP included. */
export function createPortPool({ min, max }: { readonly min: number; readonly max: number }): PortPool {
  const first = min + (min % 2);
  const size = Math.max(0, Math.floor((max - first + 1) / 2));
  const waiting = Array.from({ length: size }, (_, index) => first + 2 * index);
  /** How many stand before it was taken from; shifting a long array for each call would cost. */
  const taken = new Set<number>();
  let head = 0;
  return {
    size,
    take() {
      if (taken.size === size) return undefined;
      const port = waiting[head];
      if (port === undefined) return undefined;
      head = (head + 1) % size;
      taken.add(port);
      return port;
    },
    free(port) {
      if (!taken.has(port)) return;
      waiting[(head + size - taken.size) % size] = port;
      taken.delete(port);
    },
  };
}
