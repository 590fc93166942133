const LENGTH_BYTES = 4;

/**
 * Splits the bytes that a client sends into messages: a type byte, then the length of the rest with itself. The first
 * one, the startup message, has no type byte.
 *
 * @see PostgreSQL documentation, "Frontend/Backend Protocol", section "Message Formats"
 */
export class MessageReader {
  #chunks: Buffer[] = [];
  #receivedBytes = 0;

  push(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#receivedBytes += bytes.length;
  }

  /**
   * @param typeBytes - 0 for the startup message, 1 for all others.
   * @returns The next message with its header; undefined until all of it has arrived. It shares the memory of `push`.
   * @throws {RangeError} When its length is impossible or above `maxBytes`.
   */
  next(typeBytes: 0 | 1, maxBytes: number): Buffer | undefined {
    const headerBytes = typeBytes + LENGTH_BYTES;
    const [first] = this.#chunks;
    if (!first || this.#receivedBytes < headerBytes) return undefined;
    const header = first.length < headerBytes ? this.#join() : first;
    const length = header.readInt32BE(typeBytes);
    if (length < LENGTH_BYTES || length > maxBytes) throw new RangeError(`a message of ${length} bytes`);
    const messageBytes = typeBytes + length;
    if (this.#receivedBytes < messageBytes) return undefined;
    const received = this.#join();
    const rest = received.subarray(messageBytes);
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#receivedBytes = rest.length;
    return received.subarray(0, messageBytes);
  }

  #join(): Buffer {
    const [first, ...more] = this.#chunks;
    const joined = first && more.length === 0 ? first : Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}

/** A message of a server, or a client's after its startup. */
export function encodeMessage(type: string, ...body: readonly Uint8Array[]): Buffer {
  const header = Buffer.alloc(1 + LENGTH_BYTES);
  header.write(type, 'latin1');
  header.writeInt32BE(LENGTH_BYTES + body.reduce((sum, { length }) => sum + length, 0), 1);
  return Buffer.concat([header, ...body]);
}

/** A string as messages have it. */
export function encodeString(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}

export function encodeInt32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export type TransactionStatus = 'idle' | 'in transaction' | 'failed';

const STATUSES: ReadonlyMap<string, TransactionStatus> = new Map([
  ['I', 'idle'],
  ['T', 'in transaction'],
  ['E', 'failed'],
]);
/** `Z`, the length 5, and the status. */
const READY_FOR_QUERY_BYTES = 6;

/**
 * The status at the end of an answer, which `ReadyForQuery` reports.
 *
 * @throws {Error} When the answer does not end so.
 */
export function transactionStatus(answer: Uint8Array): TransactionStatus {
  const last = Buffer.from(answer.subarray(-READY_FOR_QUERY_BYTES)).toString('latin1');
  const status = last.startsWith('Z\0\0\0\x05') ? STATUSES.get(last.slice(-1)) : undefined;
  if (!status) throw new Error('the database ended an answer without its status');
  return status;
}
