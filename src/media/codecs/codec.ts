/** Encoding names as they stand in SDP. @see RFC 3551 section 6, RFC 7587, RFC 3389 */
export type CodecName = 'PCMU' | 'PCMA' | 'G722' | 'opus' | 'L16';

/**
 * A way to carry speech in RTP, mono throughout. Nothing here has state; `open` gives what has.
 */
export interface CodecFormat {
  readonly name: CodecName;
  /** Of RFC 3551 table 4; undefined where the number is agreed in SDP. */
  readonly staticPayloadType: number | undefined;
  /** Of the samples that go in and come out. */
  readonly sampleRateHz: number;
  /** Of the RTP timestamps, and what SDP says; for G.722 not the sample rate (RFC 3551 section 4.5.2). */
  readonly rtpClockRateHz: number;
  /** As in the last part of SDP's rtpmap; what SDP says, not how many channels come out. */
  readonly sdpChannels: 1 | 2;
  /** The most that a payload of 20 ms takes. */
  readonly maxBytesPer20Ms: number;
  /** Begins a stream of its own; one for each call. */
  open(): Codec;
}

/**
 * One call's encoder and decoder, each with a state of its own, so that both directions share one object.
 * Nothing is allocated per packet; the caller owns all memory.
 */
export interface Codec {
  readonly format: CodecFormat;
  /**
   * @param samples - Whole frames; where a codec has limits, 20 ms always fits.
   * @returns Bytes written to `out`.
   * @throws {RangeError} When `out` is too small, or the codec cannot take that many samples.
   */
  encode(samples: Int16Array, out: Uint8Array): number;
  /**
   * @returns Samples written to `out`; 0 for a payload that is empty or no such codec's.
   * @throws {RangeError} When `out` is too small.
   */
  decode(payload: Uint8Array, out: Int16Array): number;
  /**
   * Decodes what a packet tells of the one before it, which was lost; only where the codec repeats. The packet itself
   * is decoded next.
   *
   * @param out - Exactly as long as what was lost.
   * @returns Samples written; 0 where that length cannot be made.
   */
  recover?(nextPayload: Uint8Array, out: Int16Array): number;
  /**
   * Fills all of `out` with the codec's own guess at what was lost; only where it has one.
   *
   * @param out - A multiple of 10 ms.
   */
  conceal?(out: Int16Array): void;
  /** Gives back what the codec holds outside the JavaScript heap; idempotent. */
  close(): void;
}

/** Nearly all telephony sends packets of this length (RFC 3551 section 4.2). */
export const FRAME_DURATION_MS = 20;

/** The longest packet that any of the codecs may carry: 120 ms of Opus (RFC 7587 section 4.2). */
export const MAX_PACKET_DURATION_MS = 120;

/** @returns Samples in a frame of `durationMs`. */
export function samplesPerFrame(format: CodecFormat, durationMs: number = FRAME_DURATION_MS): number {
  return (format.sampleRateHz * durationMs) / 1000;
}

/** @returns Ticks of the RTP clock in a frame of `durationMs`. */
export function timestampTicksPerFrame(format: CodecFormat, durationMs: number = FRAME_DURATION_MS): number {
  return (format.rtpClockRateHz * durationMs) / 1000;
}

/** @throws {RangeError} When the output has less room than needed; an error of the caller, never of the peer. */
export function requireRoom(available: number, needed: number): void {
  if (available < needed) throw new RangeError(`a codec's output of ${needed} does not fit ${available}`);
}
