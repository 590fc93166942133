import { RTP_FIXED_HEADER_BYTES, writeRtpHeader } from './packet.ts';

const MAX_UINT32 = 2 ** 32;

/** A sender's first numbers; random, so that they cannot be predicted. */
export interface PacketizerStart {
  readonly ssrc: number;
  /** The sequence number, 0..65535. */
  readonly sequenceNumber: number;
  /** The timestamp, 0..2^32-1. */
  readonly timestamp: number;
}

/**
 * Sequence numbers and timestamps of an outgoing stream, and the counts for sender reports. The timestamp follows the
 * media clock whether or not packets are sent (`advance`), so that the peer sees pauses.
 *
 * @see RFC 3550 section 5.1, RFC 3551 section 4.1 (marker at the beginning of a talkspurt)
 */
export class Packetizer {
  readonly ssrc: number;
  packetsSent = 0;
  /** Payload only, as in sender reports. */
  bytesSent = 0;
  #sequenceNumber: number;
  #timestamp: number;

  constructor(start: PacketizerStart) {
    this.ssrc = start.ssrc;
    this.#sequenceNumber = start.sequenceNumber;
    this.#timestamp = start.timestamp;
  }

  /** The timestamp of the next media frame, in ticks of the RTP clock. */
  get timestamp(): number {
    return this.#timestamp;
  }

  /** The sequence number of the next packet. */
  get sequenceNumber(): number {
    return this.#sequenceNumber;
  }

  /**
   * Writes the header of a payload at `out[RTP_FIXED_HEADER_BYTES]`, and counts the packet.
   *
   * @param timestamp - Default: the current media frame's timestamp. DTMF events keep their own.
   * @returns Length of the whole packet in bytes.
   */
  write(
    out: Uint8Array,
    payloadType: number,
    payloadLengthBytes: number,
    marker: boolean,
    timestamp: number = this.#timestamp,
  ): number {
    const { ssrc } = this;
    writeRtpHeader(out, { payloadType, marker, sequenceNumber: this.#sequenceNumber, timestamp, ssrc });
    this.#sequenceNumber = (this.#sequenceNumber + 1) & 0xffff;
    this.packetsSent++;
    this.bytesSent += payloadLengthBytes;
    return RTP_FIXED_HEADER_BYTES + payloadLengthBytes;
  }

  /** Advances the media clock, once per frame. */
  advance(timestampTicks: number): void {
    this.#timestamp = (this.#timestamp + timestampTicks) % MAX_UINT32;
  }
}
