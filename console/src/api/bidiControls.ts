/** Embeddings, overrides and isolates. @see Unicode Standard Annex #9, section 2 */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/** With its letters in their own order: no name shows a false file extension, or reorders what stands beside it. */
export function withoutBidiControls(text: string): string {
  return text.replaceAll(BIDI_CONTROLS, '');
}
