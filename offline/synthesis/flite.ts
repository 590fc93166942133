export const FLITE_SAMPLE_RATE_HZ = 16_000;
/** Speech recognizers understand `rms` best; `slt` is the other voice of this rate. */
const DEFAULT_VOICE = 'rms';
/**
 * The longest part. Longer texts are synthesized in parts, so that the first samples do not wait for the whole text.
 */
const MAX_PART_CHARACTERS = 220;

/** What `fliteProgram.ts` synthesizes at once. */
export interface FlitePart {
  readonly text: string;
  /** The voice, `rms` or `slt`. */
  readonly voice: string;
  /** 1 is the voice's own pace. */
  readonly speed: number;
}

/**
 * Speaks English by Flite, compiled to WebAssembly: 16 bit mono at {@link FLITE_SAMPLE_RATE_HZ}.
 *
 * @param synthesizePart - Calls `fliteProgram.ts` in a thread, since it takes 40 to 240 ms a sentence.
 * @see http://www.festvox.org/flite/
 */
export async function* synthesizeParts(
  text: string,
  {
    voice = DEFAULT_VOICE,
    speed = 1,
  }: { readonly voice?: string | undefined; readonly speed?: number | undefined },
  synthesizePart: (part: FlitePart) => Promise<Int16Array>,
): AsyncGenerator<Int16Array> {
  for (const part of splitText(text)) {
    const samples = await synthesizePart({ text: part, voice, speed });
    if (samples.length > 0) yield samples;
  }
}

/** Splits at the ends of sentences and clauses; a part without letters and digits is dropped. */
export function splitText(text: string): string[] {
  const parts: string[] = [];
  for (const clause of text.trim().split(/(?<=[.!?;:,])\s+/)) {
    const last = parts.at(-1);
    const joined = last === undefined ? clause : `${last} ${clause}`;
    if (last !== undefined && joined.length <= MAX_PART_CHARACTERS) parts[parts.length - 1] = joined;
    else parts.push(clause);
  }
  return parts.filter((part) => /[\p{L}\p{N}]/u.test(part));
}
