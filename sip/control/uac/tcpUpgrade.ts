import type { Clock } from '../../clock.ts';
import type { SipRequest } from '../../message/message.ts';
import type { Target } from '../../transport/resolver.ts';
import type { Endpoint } from '../../transport/types.ts';

/** How requests that are too large for UDP go by TCP, where that is to be had. @see RFC 3261 section 18.1.1 */
export interface TcpUpgrade {
  /** The targets for a request; before each of UDP the same one of TCP where the request is large. */
  withTcpTargets(request: SipRequest, targets: Target[]): Target[];
  /** Whether TCP is only tried there, with UDP to follow. */
  isUpgrade(tried: Endpoint, next: readonly Target[]): boolean;
  /** TCP led nowhere: for a while it is not tried there again. */
  markUdpOnly(tried: Endpoint): void;
}

/** Larger requests may not go over UDP unless it must be. */
const MAX_UDP_BYTES = 1300;
/** Room for the Via that is still to come. */
const VIA_BYTES = 120;
/** Carriers do not begin to take TCP from one minute to the next. */
const FORGET_MS = 10 * 60_000;
const MAX_REMEMBERED = 10_000;

export function createTcpUpgrade(clock: Pick<Clock, 'monotonicMs'>): TcpUpgrade {
  /** Until when. */
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
