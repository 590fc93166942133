import { readUint32, writeUint32 } from '../bytes.ts';
import { Authenticator } from './authenticator.ts';
import { hasKeyIdentifier, type MasterKeyIdentifier, writeKeyIdentifier } from './cryptoAttribute.ts';
import { deriveSessionKeys } from './keyDerivation.ts';
import { Keystream } from './keystream.ts';
import { ReplayWindow } from './replayWindow.ts';
import type { SrtpParameters, SrtpRefusal } from './srtp.ts';

/** Header and SSRC of the first part are not encrypted. */
const CLEAR_BYTES = 8;
const INDEX_BYTES = 4;
/** The length of the tag: both suites authenticate RTCP with 80 bits. @see RFC 4568 section 6.2.2 */
const TAG_BYTES = 10;
const ENCRYPTED_FLAG = 2 ** 31;
const MAX_STREAMS = 8;
const NO_TRAILER = new Uint8Array(0);

/**
 * One direction of SRTCP, for sending (`protect`) or receiving (`unprotect`), in place.
 *
 * ```
 *  | header, SSRC | the rest, encrypted | E, index | optional MKI   | tag |
 *  |<------------- authenticated ---------------->|
 * ```
 * @see RFC 3711 section 3.4
 */
export class SrtcpStream {
  /** Bytes that `protect` adds; the buffer needs this room behind the packet. */
  readonly overheadBytes: number;
  readonly #keystream: Keystream;
  readonly #authenticator: Authenticator;
  readonly #keyIdentifier: MasterKeyIdentifier | undefined;
  readonly #windows = new Map<number, ReplayWindow>();
  #nextIndex = 0;

  constructor(parameters: SrtpParameters) {
    const { rtcp } = deriveSessionKeys(parameters.masterKey);
    this.#keystream = new Keystream(rtcp.encryption, rtcp.salt);
    this.#authenticator = new Authenticator(rtcp.authentication, TAG_BYTES);
    this.#keyIdentifier = parameters.keyIdentifier;
    this.overheadBytes = INDEX_BYTES + (parameters.keyIdentifier?.lengthBytes ?? 0) + TAG_BYTES;
  }

  /**
   * @param buffer - The compound packet with `overheadBytes` of room behind it.
   * @returns The length of the protected packet.
   * @throws {RangeError} When there is no packet or no room, or after 2^31 packets.
   */
  protect(buffer: Uint8Array, lengthBytes: number): number {
    if (lengthBytes < CLEAR_BYTES) throw new RangeError('only a whole RTCP packet can be protected');
    if (buffer.length < lengthBytes + this.overheadBytes)
      throw new RangeError('no room behind the RTCP packet');
    if (this.#nextIndex >= ENCRYPTED_FLAG)
      throw new RangeError('the SRTCP key is used up after 2^31 packets');
    const index = this.#nextIndex++;
    this.#keystream.apply(buffer.subarray(CLEAR_BYTES, lengthBytes), readUint32(buffer, 4), index);
    writeUint32(buffer, lengthBytes, ENCRYPTED_FLAG + index);
    const authenticatedBytes = lengthBytes + INDEX_BYTES;
    const tagAt = authenticatedBytes + writeKeyIdentifier(this.#keyIdentifier, buffer, authenticatedBytes);
    this.#authenticator.writeTag(buffer.subarray(0, authenticatedBytes), NO_TRAILER, buffer, tagAt);
    return tagAt + TAG_BYTES;
  }

  /** @returns The compound packet, decrypted in place; or why it is refused, with the bytes unchanged. */
  unprotect(bytes: Uint8Array): Uint8Array | SrtpRefusal {
    const lengthBytes = bytes.length - this.overheadBytes;
    if (lengthBytes < CLEAR_BYTES) return 'too_short';
    const authenticatedBytes = lengthBytes + INDEX_BYTES;
    if (!hasKeyIdentifier(this.#keyIdentifier, bytes, authenticatedBytes)) return 'unknown_key';
    const ssrc = readUint32(bytes, 4);
    const flagAndIndex = readUint32(bytes, lengthBytes);
    const index = flagAndIndex % ENCRYPTED_FLAG;
    const window = this.#windows.get(ssrc) ?? new ReplayWindow();
    if (!window.isNew(index)) return 'replayed';
    const tag = bytes.subarray(bytes.length - TAG_BYTES);
    if (!this.#authenticator.verify(bytes.subarray(0, authenticatedBytes), NO_TRAILER, tag)) return 'bad_tag';
    window.accept(index);
    this.#remember(ssrc, window);
    const packet = bytes.subarray(0, lengthBytes);
    if (flagAndIndex >= ENCRYPTED_FLAG) this.#keystream.apply(packet.subarray(CLEAR_BYTES), ssrc, index);
    return packet;
  }

  #remember(ssrc: number, window: ReplayWindow): void {
    // A map keeps the order of insertion: the first is the one unused for longest.
    this.#windows.delete(ssrc);
    this.#windows.set(ssrc, window);
    if (this.#windows.size <= MAX_STREAMS) return;
    const [oldest = ssrc] = this.#windows.keys();
    this.#windows.delete(oldest);
  }
}
