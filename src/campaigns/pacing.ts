import { MINUTE_MS } from '../base/values/clock.ts';

/**
 * Calls are placed a hundredth slower than asked for: a call that starts a moment late is made up for by the next one, and
 * even so no minute has more.
 */
const SPACING = 1.01;

/**
 * Returns when the call after this one may be placed. The times are anchored: a call that is late does not delay the ones
 * behind it, but what was missed by more than one call is not made up for.
 *
 * @param pacedAtMs - When this call might have been placed; null for the first.
 * @param nowMs - When it is placed, not before that. All times in milliseconds since the Unix epoch.
 */
export function nextSlotMs(pacedAtMs: number | null, nowMs: number, callsPerMinute: number): number {
  const spacingMs = (MINUTE_MS / callsPerMinute) * SPACING;
  return Math.max(pacedAtMs ?? nowMs, nowMs - spacingMs) + spacingMs;
}
