/** Encoding names of SDP. @see RFC 3551 section 6, RFC 7587, RFC 3389 */
export type CodecName = 'PCMU' | 'PCMA' | 'G722' | 'opus' | 'L16';

/** An encoding of mono speech in RTP. Stateless; `open` creates a codec with state. */
export interface CodecFormat {
  readonly name: CodecName;
  /** The number from RFC 3551 table 4; undefined when SDP negotiates it. */
  readonly staticPayloadType: number | undefined;
  /** The rate of decoded samples. */
  readonly sampleRateHz: number;
  /** The clock rate of RTP timestamps and SDP. For G.722 it differs from the sample rate (RFC 3551 section 4.5.2). */
  readonly rtpClockRateHz: number;
  /** The last part of SDP's rtpmap; decoded samples are mono in any case. */
  readonly sdpChannels: 1 | 2;
  /** The largest payload of 20 ms. */
  readonly maxBytesPer20Ms: number;
  open(): Codec;
}

/** Decodes one call's speech from the peer. Allocates nothing per packet; the caller owns all memory. */
export interface Decoder {
  /** Bytes of {@link MAX_PACKET_DURATION_MS}, where a payload can be cut between its samples; else undefined. */
  readonly partBytes: number | undefined;
  /**
   * @returns Samples written to `out`; 0 for an empty or invalid payload.
   * @throws {RangeError} When `out` is too small.
   */
  decode(payload: Uint8Array, out: Int16Array): number;
  /**
   * Recovers a lost packet from the one after it, for codecs with in-band forward error correction. The packet itself is
   * decoded next.
   *
   * @param out - Exactly as long as the loss.
   * @returns Samples written; 0 when that length cannot be recovered.
   */
  readonly recover?: ((nextPayload: Uint8Array, out: Int16Array) => number) | undefined;
}

/** The encoder and decoder of one call. */
export interface Codec extends Decoder {
  readonly format: CodecFormat;
  /**
   * @param samples - Whole frames; every codec takes 20 ms.
   * @returns The number of bytes written to `out`.
   * @throws {RangeError} When `out` is too small, or the codec cannot take that many samples.
   */
  encode(samples: Int16Array, out: Uint8Array): number;
  /**
   * Fills all of `out` by the codec's own packet loss concealment.
   *
   * @param out - Receives the samples, a multiple of 10 ms.
   */
  conceal?(out: Int16Array): void;
  /** Frees memory outside the JavaScript heap. Idempotent. */
  close(): void;
}

/** Telephony's usual packet duration. @see RFC 3551 section 4.2 */
export const FRAME_MS = 20;

/** The longest Opus packet. Longer payloads of other codecs are decoded in parts. @see RFC 7587 section 4.2 */
export const MAX_PACKET_DURATION_MS = 120;

/** @returns Ticks of the RTP clock in a frame of `durationMs`. */
export function timestampTicksPerFrame(format: CodecFormat, durationMs: number = FRAME_MS): number {
  return (format.rtpClockRateHz * durationMs) / 1000;
}

/** @returns The `partBytes` of a codec whose payload has the same length for each 20 ms. */
export function constantPartBytes({ maxBytesPer20Ms }: CodecFormat): number {
  return (maxBytesPer20Ms * MAX_PACKET_DURATION_MS) / FRAME_MS;
}

/** @throws {RangeError} When the output has less room than needed. */
export function requireRoom(available: number, needed: number): void {
  if (available < needed) throw new RangeError(`a codec's output of ${needed} does not fit ${available}`);
}
