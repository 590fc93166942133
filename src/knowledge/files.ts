/** Stores uploaded files: on this machine's disk, or in an object store that all nodes share. */
export interface DocumentFiles {
  /**
   * Stores a file; nothing is stored when `source` fails.
   *
   * @throws {Error} The error of `source`, the disk or the store.
   */
  write(key: string, source: AsyncIterable<Buffer>): Promise<void>;
  /**
   * Makes the file available at a path on this machine.
   *
   * @throws {Error} `ENOENT` when it does not exist.
   */
  checkOut(key: string): Promise<CheckedOutFile>;
  /** Removes the file; does nothing when it does not exist. */
  remove(key: string): Promise<void>;
}

interface CheckedOutFile {
  readonly path: string;
  /** Removes a temporary copy; idempotent. */
  release(): Promise<void>;
}
