/** A block of a document, as its format structures it. */
export interface Block {
  /** A heading belongs to the block after it. */
  readonly kind: 'heading' | 'paragraph' | 'row';
  /** The text; never whitespace alone. */
  readonly text: string;
}

/** An unreadable document; the message is for the user, and starts with a capital. */
export class DocumentError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'DocumentError';
  }
}

/** Reads a file's blocks in order, lazily. */
export type BlockReader = (file: { readonly path: string; readonly name: string }) => AsyncIterable<Block>;
