import type { Clock, Timer } from '../../base/clock.ts';
import type { PacketIo, PacketSocket } from '../../media/transport/packetIo.ts';
import { createRandom } from './random.ts';

/** Impairment of a network path in each direction; the same seed gives the same result. */
export interface Impairment {
  /** Packet loss, 0 to 1. */
  readonly lossRatio: number;
  /** Maximum random delay of a packet; packets stay in order. */
  readonly jitterMs: number;
  readonly seed: number;
}

/**
 * Impairs the packets between sockets and the network.
 *
 * @throws {RangeError} When a value is out of range.
 */
export function impairedPacketIo(inner: PacketIo, impairment: Impairment, clock: Clock): PacketIo {
  const { lossRatio, jitterMs, seed } = impairment;
  if (!(lossRatio >= 0 && lossRatio <= 1)) throw new RangeError(`lossRatio must be 0 to 1, not ${lossRatio}`);
  if (!(jitterMs >= 0 && jitterMs < Number.POSITIVE_INFINITY)) {
    throw new RangeError(`jitterMs must be a duration, not ${jitterMs}`);
  }
  let sockets = 0;
  return {
    async bind(request) {
      const socket = await inner.bind(request);
      sockets += 1;
      return impair(socket, impairment, createRandom(seed + sockets), clock);
    },
  };
}

function impair(
  inner: PacketSocket,
  impairment: Impairment,
  random: () => number,
  clock: Clock,
): PacketSocket {
  const outwards = createLine(impairment, random, clock);
  const inwards = createLine(impairment, random, clock);
  return {
    get port() {
      return inner.port;
    },
    get failures() {
      return inner.failures;
    },
    listen: (listener) =>
      inner.listen((bytes, address, port) => inwards.pass(() => listener(bytes, address, port))),
    send(bytes, to) {
      // The sender reuses its buffer for the next packet.
      const copy = bytes.slice();
      outwards.pass(() => inner.send(copy, to));
    },
    only: (source) => inner.only(source),
    close() {
      inwards.close();
      outwards.close();
      return inner.close();
    },
  };
}

/** One direction: drops or delays packets, in order. */
function createLine({ lossRatio, jitterMs }: Impairment, random: () => number, clock: Clock) {
  const timers = new Set<Timer>();
  let lastDueMs = 0;
  return {
    pass(deliver: () => void): void {
      if (random() < lossRatio) return;
      const nowMs = clock.monotonicMs();
      lastDueMs = Math.max(lastDueMs, nowMs + random() * jitterMs);
      if (lastDueMs <= nowMs) {
        deliver();
        return;
      }
      const timer = clock.setTimer(() => {
        timers.delete(timer);
        deliver();
      }, lastDueMs - nowMs);
      timers.add(timer);
    },
    close(): void {
      for (const timer of timers) timer.cancel();
      timers.clear();
    },
  };
}
