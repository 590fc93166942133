import { readUint8, readUint16, readUint24, readUint32 } from '../bytes.ts';
import {
  REPORT_BLOCK_BYTES,
  type ReportBlock,
  RTCP_HEADER_BYTES,
  RTCP_TYPE,
  type RtcpPacket,
  type SdesItem,
  SENDER_INFO_BYTES,
} from './packets.ts';

/** The reason for which a datagram is not a compound RTCP packet. */
export type RtcpDefect =
  | 'too_short'
  | 'wrong_version'
  | 'not_a_report_first'
  | 'bad_length'
  | 'bad_padding'
  | 'bad_contents';

const VERSION = 2;
/** A chunk of a source description: its SSRC, then items. */
const SSRC_BYTES = 4;

/**
 * Parses a compound packet strictly: each part has version 2 and a length that fits, the first is a report, only the last
 * is padded, and each part's counts agree with its length.
 *
 * @returns The parts in order, or the defect.
 * @see RFC 3550 section 6.1 and appendix A.2
 */
export function parseRtcp(bytes: Uint8Array): readonly RtcpPacket[] | RtcpDefect {
  const first = readUint8(bytes, 1);
  if (bytes.length < RTCP_HEADER_BYTES + SSRC_BYTES) return 'too_short';
  const packets: RtcpPacket[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    if (bytes.length - offset < RTCP_HEADER_BYTES) return 'bad_length';
    if (readUint8(bytes, offset) >> 6 !== VERSION) return 'wrong_version';
    if (offset === 0 && first !== RTCP_TYPE.senderReport && first !== RTCP_TYPE.receiverReport) {
      return 'not_a_report_first';
    }
    const end = offset + 4 * (readUint16(bytes, offset + 2) + 1);
    if (end > bytes.length) return 'bad_length';
    const contents = withoutPadding(bytes, offset, end);
    if (contents === undefined) return 'bad_padding';
    const packet = parsePart(contents);
    if (packet === undefined) return 'bad_contents';
    packets.push(packet);
    offset = end;
  }
  return packets;
}

/** @returns The part without padding; undefined when the padding is not allowed or does not fit. */
function withoutPadding(bytes: Uint8Array, offset: number, end: number): Uint8Array | undefined {
  if ((readUint8(bytes, offset) & 0x20) === 0) return bytes.subarray(offset, end);
  const paddingBytes = readUint8(bytes, end - 1);
  const isLast = end === bytes.length;
  const fits = paddingBytes > 0 && paddingBytes % 4 === 0 && end - paddingBytes >= offset + RTCP_HEADER_BYTES;
  return isLast && fits ? bytes.subarray(offset, end - paddingBytes) : undefined;
}

function parsePart(part: Uint8Array): RtcpPacket | undefined {
  const count = readUint8(part, 0) & 0x1f;
  const type = readUint8(part, 1);
  switch (type) {
    case RTCP_TYPE.senderReport:
      return parseSenderReport(part, count);
    case RTCP_TYPE.receiverReport:
      return parseReceiverReport(part, count);
    case RTCP_TYPE.sourceDescription:
      return parseSourceDescription(part, count);
    case RTCP_TYPE.bye:
      return parseBye(part, count);
    default:
      return { kind: 'other', type };
  }
}

function parseSenderReport(part: Uint8Array, count: number): RtcpPacket | undefined {
  const blocksAt = RTCP_HEADER_BYTES + SSRC_BYTES + SENDER_INFO_BYTES;
  if (part.length < blocksAt + count * REPORT_BLOCK_BYTES) return undefined;
  return {
    kind: 'sender_report',
    ssrc: readUint32(part, 4),
    sender: {
      ntpSeconds: readUint32(part, 8),
      ntpFraction: readUint32(part, 12),
      rtpTimestamp: readUint32(part, 16),
      packetCount: readUint32(part, 20),
      octetCount: readUint32(part, 24),
    },
    blocks: parseBlocks(part, blocksAt, count),
  };
}

function parseReceiverReport(part: Uint8Array, count: number): RtcpPacket | undefined {
  const blocksAt = RTCP_HEADER_BYTES + SSRC_BYTES;
  if (part.length < blocksAt + count * REPORT_BLOCK_BYTES) return undefined;
  return {
    kind: 'receiver_report',
    ssrc: readUint32(part, 4),
    blocks: parseBlocks(part, blocksAt, count),
  };
}

function parseBlocks(part: Uint8Array, offset: number, count: number): ReportBlock[] {
  return Array.from({ length: count }, (_, index) => {
    const at = offset + index * REPORT_BLOCK_BYTES;
    return {
      ssrc: readUint32(part, at),
      fractionLost: readUint8(part, at + 4),
      cumulativeLost: (readUint24(part, at + 5) << 8) >> 8,
      extendedHighestSequence: readUint32(part, at + 8),
      jitterTicks: readUint32(part, at + 12),
      lastSenderReport: readUint32(part, at + 16),
      delaySinceLastSenderReport: readUint32(part, at + 20),
    };
  });
}

function parseSourceDescription(part: Uint8Array, count: number): RtcpPacket | undefined {
  const chunks: { ssrc: number; items: SdesItem[] }[] = [];
  let offset = RTCP_HEADER_BYTES;
  for (let index = 0; index < count; index++) {
    if (offset + SSRC_BYTES > part.length) return undefined;
    const items: SdesItem[] = [];
    const end = parseItems(part, offset + SSRC_BYTES, items);
    if (end === undefined) return undefined;
    chunks.push({ ssrc: readUint32(part, offset), items });
    offset = end;
  }
  return { kind: 'source_description', chunks };
}

/** @returns The chunk's end, with its null bytes up to a word; undefined when an item does not fit. */
function parseItems(part: Uint8Array, start: number, items: SdesItem[]): number | undefined {
  let offset = start;
  while (offset < part.length && readUint8(part, offset) !== 0) {
    const textAt = offset + 2;
    const end = textAt + readUint8(part, offset + 1);
    if (textAt > part.length || end > part.length) return undefined;
    items.push({ type: readUint8(part, offset), text: decodeText(part, textAt, end) });
    offset = end;
  }
  return offset < part.length ? (offset & ~3) + 4 : undefined;
}

function parseBye(part: Uint8Array, count: number): RtcpPacket | undefined {
  const reasonAt = RTCP_HEADER_BYTES + count * SSRC_BYTES;
  if (reasonAt > part.length) return undefined;
  const ssrcs = Array.from({ length: count }, (_, index) => readUint32(part, RTCP_HEADER_BYTES + 4 * index));
  if (reasonAt === part.length) return { kind: 'bye', ssrcs, reason: undefined };
  const end = reasonAt + 1 + readUint8(part, reasonAt);
  if (end > part.length) return undefined;
  return { kind: 'bye', ssrcs, reason: decodeText(part, reasonAt + 1, end) };
}

function decodeText(part: Uint8Array, start: number, end: number): string {
  return Buffer.from(part.buffer, part.byteOffset + start, end - start).toString('utf8');
}
