import { readUint16, readUint32, writeUint32 } from '../bytes.ts';
import { RTP_FIXED_HEADER_BYTES, rtpHeaderLengthBytes } from '../rtp/packet.ts';
import { Authenticator } from './authenticator.ts';
import {
  type CryptoAttribute,
  hasKeyIdentifier,
  type MasterKeyIdentifier,
  SRTP_SUITES,
  writeKeyIdentifier,
} from './cryptoAttribute.ts';
import { deriveSessionKeys } from './keyDerivation.ts';
import { Keystream } from './keystream.ts';
import { ReplayWindow } from './replayWindow.ts';

/** The reason for which a packet is refused. */
export type SrtpRefusal = 'too_short' | 'unknown_key' | 'replayed' | 'bad_tag';

/** The negotiated parameters of one direction. */
export type SrtpParameters = Pick<CryptoAttribute, 'suite' | 'masterKey' | 'keyIdentifier'>;

/** The position of one SSRC in the 48-bit packet index. */
interface StreamState {
  rollovers: number;
  highestSequence: number;
  readonly window: ReplayWindow;
}

/** A peer changes its SSRC a few times in a call at most. */
const MAX_STREAMS = 8;
const ROLLOVER_BYTES = 4;
const MAX_ROLLOVERS = 2 ** 32 - 1;

/**
 * One direction of SRTP, for sending (`protect`) or receiving (`unprotect`), in place.
 *
 * ```
 *  | RTP header | payload, encrypted | optional MKI   | tag |
 *  |<------- authenticated --------->|   + rollover counter
 * ```
 * @see RFC 3711 sections 3.1 and 3.3
 */
export class SrtpStream {
  /** Bytes that `protect` adds; the buffer needs this room behind the packet. */
  readonly overheadBytes: number;
  readonly #keystream: Keystream;
  readonly #authenticator: Authenticator;
  readonly #keyIdentifier: MasterKeyIdentifier | undefined;
  readonly #streams = new Map<number, StreamState>();
  readonly #rollover = new Uint8Array(ROLLOVER_BYTES);

  constructor(parameters: SrtpParameters) {
    const { rtp } = deriveSessionKeys(parameters.masterKey);
    this.#keystream = new Keystream(rtp.encryption, rtp.salt);
    this.#authenticator = new Authenticator(rtp.authentication, SRTP_SUITES[parameters.suite].rtpTagBytes);
    this.#keyIdentifier = parameters.keyIdentifier;
    this.overheadBytes = (parameters.keyIdentifier?.lengthBytes ?? 0) + this.#authenticator.tagBytes;
  }

  /**
   * @param buffer - The RTP packet with `overheadBytes` of room behind it.
   * @param lengthBytes - The length of the packet.
   * @returns The length of the protected packet.
   * @throws {RangeError} When the buffer has no whole RTP packet or too little room, or after 2^48 packets.
   */
  protect(buffer: Uint8Array, lengthBytes: number): number {
    const packet = buffer.subarray(0, lengthBytes);
    const headerLength = lengthBytes < RTP_FIXED_HEADER_BYTES ? -1 : rtpHeaderLengthBytes(packet);
    if (headerLength < 0) throw new RangeError('only a whole RTP packet can be protected');
    if (buffer.length < lengthBytes + this.overheadBytes)
      throw new RangeError('no room behind the RTP packet');
    const ssrc = readUint32(packet, 8);
    const sequence = readUint16(packet, 2);
    const stream = this.#streams.get(ssrc) ?? newStream(sequence);
    const rollovers = estimateRollovers(stream, sequence);
    if (rollovers > MAX_ROLLOVERS) throw new RangeError('the SRTP key is used up after 2^48 packets');
    advance(stream, sequence, rollovers);
    this.#remember(ssrc, stream);
    this.#keystream.apply(packet.subarray(headerLength), ssrc, rollovers * 2 ** 16 + sequence);
    writeUint32(this.#rollover, 0, rollovers);
    const tagAt = lengthBytes + writeKeyIdentifier(this.#keyIdentifier, buffer, lengthBytes);
    this.#authenticator.writeTag(packet, this.#rollover, buffer, tagAt);
    return tagAt + this.#authenticator.tagBytes;
  }

  /** @returns The RTP packet, decrypted in place; or why it is refused, with the bytes unchanged. */
  unprotect(bytes: Uint8Array): Uint8Array | SrtpRefusal {
    const lengthBytes = bytes.length - this.overheadBytes;
    if (lengthBytes < RTP_FIXED_HEADER_BYTES) return 'too_short';
    const packet = bytes.subarray(0, lengthBytes);
    const headerLength = rtpHeaderLengthBytes(packet);
    if (headerLength < 0) return 'too_short';
    if (!hasKeyIdentifier(this.#keyIdentifier, bytes, lengthBytes)) return 'unknown_key';
    const ssrc = readUint32(packet, 8);
    const sequence = readUint16(packet, 2);
    const stream = this.#streams.get(ssrc) ?? newStream(sequence);
    const rollovers = estimateRollovers(stream, sequence);
    const index = rollovers * 2 ** 16 + sequence;
    if (rollovers < 0 || rollovers > MAX_ROLLOVERS || !stream.window.isNew(index)) return 'replayed';
    writeUint32(this.#rollover, 0, rollovers);
    const tag = bytes.subarray(bytes.length - this.#authenticator.tagBytes);
    if (!this.#authenticator.verify(packet, this.#rollover, tag)) return 'bad_tag';
    stream.window.accept(index);
    advance(stream, sequence, rollovers);
    this.#remember(ssrc, stream);
    this.#keystream.apply(packet.subarray(headerLength), ssrc, index);
    return packet;
  }

  /** Stores a stream's state. It is called only for authentic streams, so that forged SSRCs take no memory. */
  #remember(ssrc: number, stream: StreamState): void {
    // A map keeps the order of insertion: the first is the one unused for longest.
    this.#streams.delete(ssrc);
    this.#streams.set(ssrc, stream);
    if (this.#streams.size <= MAX_STREAMS) return;
    const [oldest = ssrc] = this.#streams.keys();
    this.#streams.delete(oldest);
  }
}

function newStream(firstSequence: number): StreamState {
  return { rollovers: 0, highestSequence: firstSequence, window: new ReplayWindow() };
}

/** The count whose packet index is nearest to the highest one. @see RFC 3711 section 3.3.1 */
function estimateRollovers({ rollovers, highestSequence }: StreamState, sequence: number): number {
  const step = sequence - highestSequence;
  if (step > 2 ** 15) return rollovers - 1;
  return step < -(2 ** 15) ? rollovers + 1 : rollovers;
}

function advance(stream: StreamState, sequence: number, rollovers: number): void {
  if (rollovers < stream.rollovers) return;
  if (rollovers === stream.rollovers && sequence <= stream.highestSequence) return;
  stream.rollovers = rollovers;
  stream.highestSequence = sequence;
}
