import type { Clock, Timer } from '../../base/values/clock.ts';
import type { Impairment, PacketIo, PacketSocket } from '../../media/transport/packetIo.ts';
import { createRandom } from './random.ts';

/**
 * Impairs the packets between sockets and the network: both directions as `impairment` says, or what a socket sends as
 * its own request says.
 *
 * @throws {RangeError} When a value is out of range.
 */
export function impairedPacketIo(
  inner: PacketIo,
  impairment: Impairment | undefined,
  clock: Clock,
): PacketIo {
  if (impairment) requireRange(impairment);
  let sockets = 0;
  return {
    async bind(request) {
      const { impairment: own } = request;
      if (own) requireRange(own);
      const socket = await inner.bind(request);
      if (own) return impair(socket, { outwards: createLine(own, own.seed, clock) });
      if (!impairment) return socket;
      sockets += 1;
      const seed = impairment.seed + 2 * sockets;
      const outwards = createLine(impairment, seed, clock);
      return impair(socket, { outwards, inwards: createLine(impairment, seed + 1, clock) });
    },
  };
}

function requireRange({ lossRatio, jitterMs }: Impairment): void {
  if (!(lossRatio >= 0 && lossRatio <= 1)) throw new RangeError(`lossRatio must be 0 to 1, not ${lossRatio}`);
  if (!(jitterMs >= 0 && jitterMs < Number.POSITIVE_INFINITY)) {
    throw new RangeError(`jitterMs must be a duration, not ${jitterMs}`);
  }
}

type Line = ReturnType<typeof createLine>;

function impair(
  inner: PacketSocket,
  { outwards, inwards }: { readonly outwards: Line; readonly inwards?: Line },
): PacketSocket {
  return {
    get port() {
      return inner.port;
    },
    get failures() {
      return inner.failures;
    },
    listen: (listener) =>
      inner.listen(
        inwards ? (bytes, address, port) => inwards.pass(() => listener(bytes, address, port)) : listener,
      ),
    send(bytes, to) {
      // The sender reuses its buffer for the next packet.
      const copy = bytes.slice();
      outwards.pass(() => inner.send(copy, to));
    },
    only: (source) => inner.only(source),
    close() {
      inwards?.close();
      outwards.close();
      return inner.close();
    },
  };
}

/** Impairs one direction: drops or delays packets, in order. */
function createLine({ lossRatio, jitterMs }: Impairment, seed: number, clock: Clock) {
  const random = createRandom(seed);
  const timers = new Set<Timer>();
  let lastDueMs = 0;
  return {
    pass(deliver: () => void): void {
      const isLost = random() < lossRatio;
      const delayMs = random() * jitterMs;
      if (isLost) return;
      const nowMs = clock.monotonicMs();
      lastDueMs = Math.max(lastDueMs, nowMs + delayMs);
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
