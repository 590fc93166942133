import { MINUTE_MS } from '../base/values/clock.ts';
import { CALL_SPACING } from '../calls/trunks/trunkSlots.ts';

/**
 * Returns when the call after this one may be placed. A late call does not delay the next ones, but at most one missed call
 * is made up for.
 *
 * @param pacedAtMs - The earliest time for this call; null for the first.
 * @param nowMs - When it is placed, at that time or later. All times in milliseconds since the Unix epoch.
 */
export function nextSlotMs(pacedAtMs: number | null, nowMs: number, callsPerMinute: number): number {
  const spacingMs = (MINUTE_MS / callsPerMinute) * CALL_SPACING;
  return Math.max(pacedAtMs ?? nowMs, nowMs - spacingMs) + spacingMs;
}
