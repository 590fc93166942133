/** Nearly all telephony sends packets of this length (RFC 3551 section 4.2). */
export const FRAME_DURATION_MS = 20;
/** The longest packet that any of the codecs may carry: 120 ms of Opus (RFC 7587 section 4.2). */
export const MAX_PACKET_DURATION_MS = 120;
/** @returns Samples in a frame of `durationMs`. */
export function samplesPerFrame(format, durationMs = FRAME_DURATION_MS) {
  return (format.sampleRateHz * durationMs) / 1000;
}
/** @returns Ticks of the RTP clock in a frame of `durationMs`. */
export function timestampTicksPerFrame(format, durationMs = FRAME_DURATION_MS) {
  return (format.rtpClockRateHz * durationMs) / 1000;
}
/** @throws {RangeError} When the output has less room than needed; an error of the caller, never of the peer. */
export function requireRoom(available, needed) {
  if (available < needed) throw new RangeError(`a codec's output of ${needed} does not fit ${available}`);
}
