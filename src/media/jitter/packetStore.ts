import type { Decoder } from '../codecs/codec.ts';

export type PacketKind =
  | 'speech'
  /** Comfort noise level of a pause (RFC 3389). */
  | 'comfort_noise'
  /** Anything else in the sequence, such as a DTMF event: not lost, and not to be concealed. */
  | 'other';

export interface StoredPacket {
  /** The extended sequence number, which never wraps. */
  readonly sequence: number;
  /** Extended, in ticks of the RTP clock. */
  readonly timestamp: number;
  readonly kind: PacketKind;
  /** A view of the datagram, owned by the store until it is played. */
  readonly payload: Uint8Array;
  /** Decodes the payload of speech. */
  readonly decoder: Decoder;
}

export type PutResult = 'stored' | 'duplicate' | 'late';

/** 2.5 s at 20 ms, far above any usable delay. A power of two. */
const CAPACITY = 128;

/** A bounded store of packets in sequence order; a newer packet pushes the oldest out. */
export class PacketStore {
  /** The number of packets that were pushed out. */
  overflows = 0;
  readonly #slots: (StoredPacket | undefined)[] = new Array<StoredPacket | undefined>(CAPACITY).fill(
    undefined,
  );
  /** The lowest sequence number that is still accepted. */
  #next: number | undefined;
  #highest = 0;
  #count = 0;
  #hasTaken = false;

  get count(): number {
    return this.#count;
  }

  put(packet: StoredPacket): PutResult {
    const { sequence } = packet;
    if (this.#next !== undefined && sequence <= this.#highest - CAPACITY) return 'late';
    if (this.#next === undefined || (!this.#hasTaken && sequence < this.#next)) {
      this.#next = sequence;
      if (this.#count === 0) this.#highest = sequence;
    }
    if (sequence < this.#next) return 'late';
    if (this.#slots[sequence & (CAPACITY - 1)]?.sequence === sequence) return 'duplicate';
    this.#makeRoom(sequence);
    this.#slots[sequence & (CAPACITY - 1)] = packet;
    this.#highest = Math.max(this.#highest, sequence);
    this.#count++;
    return 'stored';
  }

  /** The packet with the lowest sequence number. */
  peek(): StoredPacket | undefined {
    if (this.#count === 0 || this.#next === undefined) return undefined;
    // Stored packets are within one capacity of the newest; `next` may be further back after much loss.
    const oldest = Math.max(this.#next, this.#highest - CAPACITY + 1);
    for (let sequence = oldest; sequence <= this.#highest; sequence++) {
      const packet = this.#slots[sequence & (CAPACITY - 1)];
      if (packet !== undefined) return packet;
    }
    return undefined;
  }

  /** Removes the packet of `peek`; earlier ones are late from now on. */
  take(): StoredPacket | undefined {
    const packet = this.peek();
    if (packet === undefined) return undefined;
    this.#slots[packet.sequence & (CAPACITY - 1)] = undefined;
    this.#next = packet.sequence + 1;
    this.#hasTaken = true;
    this.#count--;
    return packet;
  }

  /** @param packet - The rest of the one that was taken last. */
  putBack(packet: StoredPacket): void {
    this.#slots[packet.sequence & (CAPACITY - 1)] = packet;
    this.#next = packet.sequence;
    this.#count++;
  }

  /** Forgets packets and sequence. */
  clear(): void {
    this.#slots.fill(undefined);
    this.#next = undefined;
    this.#count = 0;
    this.#hasTaken = false;
  }

  /** Drops packets a capacity or more before the newest. */
  #makeRoom(sequence: number): void {
    for (let oldest = this.peek(); oldest !== undefined; oldest = this.peek()) {
      if (sequence - oldest.sequence < CAPACITY) return;
      this.take();
      this.overflows++;
    }
  }
}
