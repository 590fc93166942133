import type { Clock } from '../../clock.ts';
import type { SipRequest } from '../../message/message.ts';
import type { Target } from '../../transport/resolver.ts';
import type { Endpoint } from '../../transport/types.ts';

/** Sends requests that are too large for UDP by TCP, and falls back to UDP. @see RFC 3261 section 18.1.1 */
export interface TcpUpgrade {
  /** Puts the TCP target before each UDP target of a large request. */
  withTcpTargets(request: SipRequest, targets: Target[]): Target[];
  /** Returns true when a target is the TCP attempt before its UDP fallback. */
  isUpgrade(tried: Endpoint, next: readonly Target[]): boolean;
  /** Skips TCP for this target for a while. */
  markUdpOnly(tried: Endpoint): void;
}

/** @see RFC 3261 section 18.1.1 */
const MAX_UDP_BYTES = 1300;
/** The Via, which is added later. */
const VIA_BYTES = 120;
/** The time for which a target without TCP is remembered. */
const FORGET_MS = 10 * 60_000;
const MAX_REMEMBERED = 10_000;

export function createTcpUpgrade(clock: Clock): TcpUpgrade {
  /** The expiry of entries by target. */
  const onlyUdp = new Map<string, number>();
  const keyOf = ({ address, port }: Endpoint) => `${address} ${port}`;
  const takesTcp = (target: Target) => (onlyUdp.get(keyOf(target)) ?? 0) <= clock.monotonicMs();
  return {
    withTcpTargets(request, targets) {
      const lengthBytes = request.body.length + request.headers.format().length + VIA_BYTES;
      if (lengthBytes <= MAX_UDP_BYTES || /;transport=udp/i.test(request.uri)) return targets;
      return targets.flatMap((target) =>
        target.transport === 'udp' && takesTcp(target)
          ? [{ ...target, transport: 'tcp' as const }, target]
          : [target],
      );
    },
    isUpgrade: (tried, [next]) =>
      tried.transport === 'tcp' && next?.transport === 'udp' && keyOf(tried) === keyOf(next),
    markUdpOnly(tried) {
      if (onlyUdp.size >= MAX_REMEMBERED) onlyUdp.clear();
      onlyUdp.set(keyOf(tried), clock.monotonicMs() + FORGET_MS);
    },
  };
}
