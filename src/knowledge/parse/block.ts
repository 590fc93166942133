/** A piece of a document, as its format tells the pieces apart. */
export interface Block {
  /** Rows stand closer to each other than paragraphs do; a heading belongs to what follows it. */
  readonly kind: 'heading' | 'paragraph' | 'row';
  /** Never whitespace alone. */
  readonly text: string;
}

/** A document that cannot be read; the message is for the user, and begins with a capital. */
export class DocumentError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'DocumentError';
  }
}

/** Reads a file's blocks in order, as they are needed. */
export type BlockReader = (file: { readonly path: string; readonly name: string }) => AsyncIterable<Block>;
