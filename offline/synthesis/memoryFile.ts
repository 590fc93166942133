/** The largest file, larger than the speech of any text. A program that writes without end fails here. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const INITIAL_BYTES = 65_536;

/** A file in memory, with one read and write position. */
export class MemoryFile {
  #buffer = new Uint8Array(INITIAL_BYTES);
  #length = 0;
  #position = 0;

  /** @throws {RangeError} Beyond 64 MiB. */
  write(bytes: Uint8Array): void {
    const end = this.#position + bytes.length;
    if (end > MAX_FILE_BYTES) throw new RangeError(`a file in memory is limited to ${MAX_FILE_BYTES} bytes`);
    if (end > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(end, 2 * this.#buffer.length));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#position);
    this.#position = end;
    this.#length = Math.max(this.#length, end);
  }

  /**
   * @param whence - 0 from the start, 1 from the position, 2 from the end.
   * @returns The new position; undefined, and nothing changes, before the start.
   */
  seek(offset: number, whence: number): number | undefined {
    const origin = whence === 0 ? 0 : whence === 1 ? this.#position : this.#length;
    if (origin + offset < 0) return undefined;
    this.#position = origin + offset;
    return this.#position;
  }

  content(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }
}
