import { readUint8, readUint16, readUint32, writeUint16, writeUint32 } from '../bytes.ts';

/** The reason for which a datagram is not an RTP packet. */
export type RtpDefect = 'too_short' | 'wrong_version' | 'bad_header_length' | 'bad_padding' | 'is_rtcp';

export interface RtpHeader {
  /** The payload type, 0..127. */
  readonly payloadType: number;
  readonly marker: boolean;
  /** The number is taken modulo 2^16. */
  readonly sequenceNumber: number;
  /** The time in ticks of the RTP clock, taken modulo 2^32. */
  readonly timestamp: number;
  readonly ssrc: number;
}

/** Length of a header without contributing sources and extension. */
export const RTP_FIXED_HEADER_BYTES = 12;

const VERSION = 2;
/** Packet types 64..95 with the marker bit are RTCP when both share a port (RFC 5761 section 4). */
const FIRST_RTCP_TYPE = 192;
const LAST_RTCP_TYPE = 223;

/**
 * An RTP packet read in place: `read` checks and reads the header; the fields are valid until the next `read`. One view
 * serves a socket for its life, so that receiving allocates nothing.
 *
 * ```
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * |V=2|P|X|  CC   |M|     PT      |       sequence number         |
 * |                           timestamp                           |
 * |           synchronization source (SSRC) identifier            |
 * |            contributing source (CSRC) identifiers ...         |
 * ```
 * The caller owns the bytes and must not change them while the packet is in use.
 *
 * @see RFC 3550 section 5.1
 */
export class RtpPacketView {
  bytes: Uint8Array = new Uint8Array(0);
  payloadType = 0;
  marker = false;
  sequenceNumber = 0;
  timestamp = 0;
  ssrc = 0;
  /** Offset of the payload in `bytes`: the length of the whole header. */
  payloadOffset = 0;
  payloadLengthBytes = 0;

  /** @returns Undefined for a valid packet, which the view then shows; else the packet's defect. */
  read(bytes: Uint8Array): RtpDefect | undefined {
    if (bytes.length < RTP_FIXED_HEADER_BYTES) return 'too_short';
    const first = readUint8(bytes, 0);
    const second = readUint8(bytes, 1);
    if (first >> 6 !== VERSION) return 'wrong_version';
    if (second >= FIRST_RTCP_TYPE && second <= LAST_RTCP_TYPE) return 'is_rtcp';
    const headerLength = rtpHeaderLengthBytes(bytes);
    if (headerLength < 0) return 'bad_header_length';
    const paddingBytes = (first & 0x20) === 0 ? 0 : readUint8(bytes, bytes.length - 1);
    if ((first & 0x20) !== 0 && (paddingBytes === 0 || headerLength + paddingBytes > bytes.length)) {
      return 'bad_padding';
    }
    this.bytes = bytes;
    this.marker = (second & 0x80) !== 0;
    this.payloadType = second & 0x7f;
    this.sequenceNumber = readUint16(bytes, 2);
    this.timestamp = readUint32(bytes, 4);
    this.ssrc = readUint32(bytes, 8);
    this.payloadOffset = headerLength;
    this.payloadLengthBytes = bytes.length - headerLength - paddingBytes;
    return undefined;
  }

  /** The payload without padding, as a view of the datagram. */
  payload(): Uint8Array {
    return this.bytes.subarray(this.payloadOffset, this.payloadOffset + this.payloadLengthBytes);
  }
}

/**
 * Length of the header with contributing sources and extension: the offset of the payload.
 *
 * @returns -1 when the datagram is shorter than its header announces.
 * @see RFC 3550 sections 5.1 and 5.3.1
 */
export function rtpHeaderLengthBytes(bytes: Uint8Array): number {
  const first = readUint8(bytes, 0);
  const afterCsrcs = RTP_FIXED_HEADER_BYTES + 4 * (first & 0x0f);
  if ((first & 0x10) === 0) return afterCsrcs <= bytes.length ? afterCsrcs : -1;
  if (afterCsrcs + 4 > bytes.length) return -1;
  const length = afterCsrcs + 4 + 4 * readUint16(bytes, afterCsrcs + 2);
  return length <= bytes.length ? length : -1;
}

/**
 * Writes a header at the start of `out`; the payload follows, so that a codec can encode in place.
 *
 * @returns Length of the header in bytes.
 * @throws {RangeError} When a field is out of range or `out` is too small.
 * @see RFC 3550 section 5.1
 */
export function writeRtpHeader(out: Uint8Array, header: RtpHeader): number {
  const { payloadType, marker, sequenceNumber, timestamp, ssrc } = header;
  if (!(payloadType >= 0 && payloadType <= 127)) {
    throw new RangeError(`RTP payload type ${payloadType} is not in 0..127`);
  }
  if (out.length < RTP_FIXED_HEADER_BYTES)
    throw new RangeError(`an RTP header does not fit ${out.length} bytes`);
  out[0] = VERSION << 6;
  out[1] = (marker ? 0x80 : 0) | payloadType;
  writeUint16(out, 2, sequenceNumber);
  writeUint32(out, 4, timestamp);
  writeUint32(out, 8, ssrc);
  return RTP_FIXED_HEADER_BYTES;
}

/**
 * Distinguishes RTCP from RTP on one port.
 *
 * @see RFC 5761 section 4
 */
export function isRtcp(bytes: Uint8Array): boolean {
  if (bytes.length < 2) return false;
  const type = readUint8(bytes, 1);
  return type >= FIRST_RTCP_TYPE && type <= LAST_RTCP_TYPE;
}
