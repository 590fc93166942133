import type { Clock, Timer } from '../../base/clock.ts';
import type { PacketIo, PacketSocket } from '../../media/transport/packetIo.ts';
import { createRandom } from './random.ts';

/** What a bad line does to packets, each way alike; the same seed does the same. */
export interface Impairment {
  /** Share of the packets that never arrive, 0 to 1. */
  readonly lossRatio: number;
  /** Each packet is held back for up to so long; none overtakes another. */
  readonly jitterMs: number;
  readonly seed: number;
}

/**
 * Puts a bad line between sockets and the network.
 *
 * @throws {RangeError} When there can be no such line.
 */
export function impairedPacketIo(inner: PacketIo, impairment: Impairment, clock: Clock): PacketIo {
  const { lossRatio, jitterMs, seed } = impairment;
  if (!(lossRatio >= 0 && lossRatio <= 1)) throw new RangeError(`lossRatio is 0 to 1, not ${lossRatio}`);
  if (!(jitterMs >= 0 && jitterMs < Number.POSITIVE_INFINITY)) {
    throw new RangeError(`jitterMs is a time, not ${jitterMs}`);
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
      // The sender writes its next packet into the same bytes.
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

/** One direction: loses, or holds back, keeping the order. */
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
