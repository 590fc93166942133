import type { Clock, Timer } from '../../base/clock.ts';

/** Our own processes answer at once, unless they are frozen, cut off, or of no use to a caller anyhow. */
export const OWN_PING_INTERVAL_MS = 1000;
/** A bot that works something out without looking at its socket is slow, and not gone. */
export const FOREIGN_PING_INTERVAL_MS = 3000;
/**
 * Counted rather than timed: a process that stood still itself finds its timer due before the answers that lie ready,
 * and must not take its peer for the one that slept.
 */
const MAX_UNANSWERED = 5;

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly ping: () => void;
  /** Once: nothing came for five intervals. */
  readonly onSilent: () => void;
}

/** Asks a peer for a sign of life, and notices when none comes: TCP alone would wait for minutes. */
export interface Heartbeat {
  /** Something came of the peer; whatever it was, it lives. */
  heard(): void;
  /** Idempotent. */
  stop(): void;
}

/** @see RFC 6455 section 5.5.2 */
export function startHeartbeat({ clock, intervalMs, ping, onSilent }: HeartbeatOptions): Heartbeat {
  let unanswered = 0;
  let timer: Timer;
  const beat = () => {
    if (unanswered === MAX_UNANSWERED) return onSilent();
    unanswered++;
    ping();
    wait();
  };
  const wait = () => {
    timer = clock.setTimer(beat, intervalMs);
  };
  wait();
  return {
    heard() {
      unanswered = 0;
    },
    stop() {
      timer.cancel();
    },
  };
}
