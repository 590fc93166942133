import { writeUint16, writeUint24, writeUint32 } from '../bytes.ts';
import {
  REPORT_BLOCK_BYTES,
  type ReportBlock,
  RTCP_HEADER_BYTES,
  RTCP_TYPE,
  SDES_CNAME,
  SENDER_INFO_BYTES,
  type SenderInfo,
} from './packets.ts';

/** The contents of a compound RTCP packet. */
export interface RtcpContents {
  readonly ssrc: number;
  /** Makes it a sender report, when packets were sent since the last report; else it is a receiver report. */
  readonly sender?: SenderInfo;
  /** The report blocks, at most 31. */
  readonly blocks: readonly ReportBlock[];
  /** Constant for the call; reveals nothing about the machine. @see RFC 7022 */
  readonly cname: string;
  /** The BYE at the end of the session; the text may be empty. */
  readonly bye?: { readonly reason: string };
}

const VERSION_BITS = 0x80;
/** The most blocks; their count has five bits. */
const MAX_BLOCKS = 31;
/** The longest text; its length has one byte. */
const MAX_TEXT_BYTES = 255;

/**
 * Builds a compound packet: report, source description with the canonical name, and optionally BYE.
 *
 * @returns A newly allocated packet.
 * @throws {RangeError} When there are more than 31 blocks, or a text is longer than 255 bytes.
 * @see RFC 3550 section 6.1
 */
export function buildRtcp(contents: RtcpContents): Uint8Array {
  if (contents.blocks.length > MAX_BLOCKS) {
    throw new RangeError(`${contents.blocks.length} report blocks; an RTCP report takes ${MAX_BLOCKS}`);
  }
  const parts = [buildReport(contents), buildSourceDescription(contents.ssrc, contents.cname)];
  if (contents.bye !== undefined) parts.push(buildBye(contents.ssrc, contents.bye.reason));
  return Buffer.concat(parts);
}

function buildReport({ ssrc, sender, blocks }: RtcpContents): Uint8Array {
  const blocksAt = RTCP_HEADER_BYTES + 4 + (sender === undefined ? 0 : SENDER_INFO_BYTES);
  const type = sender === undefined ? RTCP_TYPE.receiverReport : RTCP_TYPE.senderReport;
  const part = newPart(type, blocks.length, blocksAt + blocks.length * REPORT_BLOCK_BYTES);
  writeUint32(part, 4, ssrc);
  if (sender !== undefined) writeSenderInfo(part, 8, sender);
  blocks.forEach((block, index) => {
    writeBlock(part, blocksAt + index * REPORT_BLOCK_BYTES, block);
  });
  return part;
}

function writeSenderInfo(part: Uint8Array, offset: number, sender: SenderInfo): void {
  writeUint32(part, offset, sender.ntpSeconds);
  writeUint32(part, offset + 4, sender.ntpFraction);
  writeUint32(part, offset + 8, sender.rtpTimestamp);
  writeUint32(part, offset + 12, sender.packetCount);
  writeUint32(part, offset + 16, sender.octetCount);
}

function writeBlock(part: Uint8Array, offset: number, block: ReportBlock): void {
  writeUint32(part, offset, block.ssrc);
  part[offset + 4] = block.fractionLost;
  writeUint24(part, offset + 5, block.cumulativeLost);
  writeUint32(part, offset + 8, block.extendedHighestSequence);
  writeUint32(part, offset + 12, block.jitterTicks);
  writeUint32(part, offset + 16, block.lastSenderReport);
  writeUint32(part, offset + 20, block.delaySinceLastSenderReport);
}

function buildSourceDescription(ssrc: number, cname: string): Uint8Array {
  const text = encodeText(cname, 'an RTCP canonical name');
  const itemsLength = 2 + text.length;
  // At least one null byte ends the items, and more pad to a word.
  const part = newPart(RTCP_TYPE.sourceDescription, 1, RTCP_HEADER_BYTES + 4 + itemsLength + 1);
  writeUint32(part, 4, ssrc);
  part[8] = SDES_CNAME;
  part[9] = text.length;
  part.set(text, 10);
  return part;
}

function buildBye(ssrc: number, reason: string): Uint8Array {
  const text = encodeText(reason, 'the reason of an RTCP BYE');
  const part = newPart(RTCP_TYPE.bye, 1, RTCP_HEADER_BYTES + 4 + (text.length === 0 ? 0 : 1 + text.length));
  writeUint32(part, 4, ssrc);
  if (text.length > 0) {
    part[8] = text.length;
    part.set(text, 9);
  }
  return part;
}

/** A zeroed part with its header, padded to whole words. */
function newPart(type: number, count: number, lengthBytes: number): Uint8Array {
  const words = Math.ceil(lengthBytes / 4);
  const part = new Uint8Array(4 * words);
  part[0] = VERSION_BITS | count;
  part[1] = type;
  writeUint16(part, 2, words - 1);
  return part;
}

function encodeText(text: string, what: string): Uint8Array {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > MAX_TEXT_BYTES) throw new RangeError(`${what} is longer than ${MAX_TEXT_BYTES} bytes`);
  return bytes;
}
