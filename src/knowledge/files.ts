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
  /** Idempotent. @returns True when it is gone from all nodes: a folder knows it only of a file that it had. */
  remove(key: string): Promise<boolean>;
}

interface CheckedOutFile {
  readonly path: string;
  /** Removes a temporary copy; idempotent. */
  release(): Promise<void>;
}

const KEY_FORM = /^[\w-]+(\/[\w-]+)*$/;

/** @throws {Error} When the key is not a relative path of plain names, which could leave the folder. */
export function requireFileKey(key: string): void {
  if (!KEY_FORM.test(key)) throw new Error(`invalid file key: ${JSON.stringify(key)}`);
}
