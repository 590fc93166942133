/** To the encoder's thread. */
export interface EmbedQuestion {
  readonly id: number;
  readonly texts: readonly string[];
}

/** From it. */
export type EmbedAnswer =
  | { readonly id: number; readonly vectors: Float32Array[] }
  | { readonly id: number; readonly error: string };
