/** Keeps uploaded documents as they came: on this machine's disk, or in an object store that all nodes see. */
export interface DocumentFiles {
  /**
   * Keeps what comes, and nothing when `source` breaks off.
   *
   * @throws {Error} What `source` threw, or what the disk or the store did.
   */
  write(key: string, source: AsyncIterable<Buffer>): Promise<void>;
  /**
   * Gives the file a path on this machine, for a parser that reads it in its own way.
   *
   * @throws {Error} `ENOENT` when there is no such file.
   */
  checkOut(key: string): Promise<CheckedOutFile>;
  /** Harmless when it is gone already. */
  remove(key: string): Promise<void>;
}

export interface CheckedOutFile {
  readonly path: string;
  /** Takes away what was copied for this use; idempotent. */
  release(): Promise<void>;
}
