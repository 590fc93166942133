/** Seconds from NTP's epoch in 1900 to Unix time's in 1970. */
const NTP_UNIX_OFFSET_SECONDS = 2_208_988_800;
const FRACTIONS_PER_SECOND = 2 ** 32;
/** RTCP's short times count 1/65536 s in 32 bits. */
const SHORT_UNITS_PER_SECOND = 65_536;
/** A larger difference of short times is negative: the reports are out of order. */
const HALF_SHORT_RANGE = 2 ** 31;

/** An instant as in sender reports. @see RFC 3550 section 4 */
export interface NtpTime {
  readonly ntpSeconds: number;
  readonly ntpFraction: number;
}

/** @param unixMs - Milliseconds since the Unix epoch, fractions allowed. */
export function toNtp(unixMs: number): NtpTime {
  const seconds = Math.floor(unixMs / 1000);
  return {
    ntpSeconds: (seconds + NTP_UNIX_OFFSET_SECONDS) % 2 ** 32,
    ntpFraction: Math.floor((unixMs / 1000 - seconds) * FRACTIONS_PER_SECOND),
  };
}

/** The middle 32 bits, as in report blocks. */
export function toShortNtp({ ntpSeconds, ntpFraction }: NtpTime): number {
  return (((ntpSeconds & 0xffff) << 16) | (ntpFraction >>> 16)) >>> 0;
}

/** @returns The delay in 1/65536 s, for `delaySinceLastSenderReport`. */
export function toShortDelay(delayMs: number): number {
  return Math.round((delayMs * SHORT_UNITS_PER_SECOND) / 1000) >>> 0;
}

/**
 * Round trip time from a report block about us: its arrival, minus our report's time, minus the peer's delay.
 *
 * @param arrival - The time of arrival on the clock of `lastSenderReport`.
 * @returns Milliseconds; undefined when the peer has received no sender report yet, or its values are inconsistent.
 * @see RFC 3550 section 6.4.1
 */
export function roundTripMs(
  arrival: NtpTime,
  block: { readonly lastSenderReport: number; readonly delaySinceLastSenderReport: number },
): number | undefined {
  if (block.lastSenderReport === 0) return undefined;
  const elapsed = (toShortNtp(arrival) - block.lastSenderReport - block.delaySinceLastSenderReport) >>> 0;
  return elapsed >= HALF_SHORT_RANGE ? undefined : (elapsed * 1000) / SHORT_UNITS_PER_SECOND;
}
