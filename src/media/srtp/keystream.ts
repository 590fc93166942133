import { type Cipher, createCipheriv } from 'node:crypto';
import { writeUint16, writeUint32 } from '../bytes.ts';

const BLOCK_BYTES = 16;
/** Offsets of the packet index and the block counter in a block. */
const INDEX_AT = 8;
const COUNTER_AT = 14;
const TWO_TO_THE_16 = 2 ** 16;

/**
 * SRTP's AES in counter mode. One cipher lives as long as the key: a packet's counters are encrypted as ECB blocks, which
 * costs a quarter of a new cipher per packet.
 *
 * @see RFC 3711 section 4.1.1
 */
export class Keystream {
  readonly #cipher: Cipher;
  readonly #salt: Uint8Array;
  #blocks = new Uint8Array(0);

  /** @param key - 16 bytes. @param salt - 14 bytes. */
  constructor(key: Uint8Array, salt: Uint8Array) {
    this.#cipher = createCipheriv('aes-128-ecb', key, null);
    this.#cipher.setAutoPadding(false);
    this.#salt = salt;
  }

  /**
   * Encrypts or decrypts in place; both are the same operation.
   *
   * @param index - The packet index: 48 bits for SRTP, 31 for SRTCP.
   */
  apply(bytes: Uint8Array, ssrc: number, index: number): void {
    const stream = this.#generate(Math.ceil(bytes.length / BLOCK_BYTES), ssrc, index);
    for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] ?? 0) ^ (stream[i] ?? 0);
  }

  #generate(count: number, ssrc: number, index: number): Uint8Array {
    if (this.#blocks.length < count * BLOCK_BYTES) this.#blocks = new Uint8Array(count * BLOCK_BYTES);
    const blocks = this.#blocks;
    this.#writeFirstBlock(blocks, ssrc, index);
    for (let block = 1; block < count; block++) {
      blocks.copyWithin(block * BLOCK_BYTES, 0, COUNTER_AT);
      writeUint16(blocks, block * BLOCK_BYTES + COUNTER_AT, block);
    }
    return this.#cipher.update(blocks.subarray(0, count * BLOCK_BYTES));
  }

  /** The salt XOR the SSRC at bytes 4 to 7 and the index at the next six; then a counter of 0. */
  #writeFirstBlock(blocks: Uint8Array, ssrc: number, index: number): void {
    blocks.fill(0, 0, BLOCK_BYTES);
    writeUint32(blocks, 4, ssrc);
    writeUint32(blocks, INDEX_AT, Math.floor(index / TWO_TO_THE_16));
    writeUint16(blocks, INDEX_AT + 4, index % TWO_TO_THE_16);
    for (let i = 0; i < COUNTER_AT; i++) blocks[i] = (blocks[i] ?? 0) ^ (this.#salt[i] ?? 0);
  }
}
