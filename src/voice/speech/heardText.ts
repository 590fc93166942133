/** Usual pace of synthetic voices, for speech that is still being synthesized. */
const CHARACTERS_PER_SECOND = 15;
const HAN_CHARACTERS_PER_SECOND = 5;
/** Softer samples are the silence around the words. */
const VOICED = 400;

/** Maps an answer's samples to its words, to tell which words were heard up to a position. */
export interface HeardText {
  /** Starts the next piece of the text; the samples that follow are its speech. */
  beginPiece(text: string): void;
  append(samples: Int16Array): void;
  /** All samples of the piece were appended. */
  completePiece(): void;
  readonly lengthSamples: number;
  /** @param position - Samples from the answer's start. @returns Whole words, as they were written. */
  textAt(position: number): string;
}

interface Piece {
  readonly text: string;
  readonly start: number;
  end: number;
  firstVoiced: number | undefined;
  lastVoiced: number;
  isComplete: boolean;
}

export function createHeardText(sampleRateHz: number): HeardText {
  const pieces: Piece[] = [];
  let lengthSamples = 0;
  return {
    get lengthSamples() {
      return lengthSamples;
    },
    beginPiece(text) {
      const start = lengthSamples;
      pieces.push({
        text,
        start,
        end: start,
        firstVoiced: undefined,
        lastVoiced: start,
        isComplete: false,
      });
    },
    append(samples) {
      const piece = pieces.at(-1);
      const start = lengthSamples;
      lengthSamples += samples.length;
      if (!piece) return;
      piece.end = lengthSamples;
      const first = samples.findIndex(isVoiced);
      if (first < 0) return;
      piece.firstVoiced ??= start + first;
      piece.lastVoiced = start + samples.findLastIndex(isVoiced) + 1;
    },
    completePiece() {
      const piece = pieces.at(-1);
      if (piece) piece.isComplete = true;
    },
    textAt(position) {
      let text = '';
      for (const piece of pieces) {
        const share = heardShare(piece, position, sampleRateHz);
        text = joined(text, share >= 1 ? piece.text : wholeWords(piece.text, share));
        if (share < 1 && piece.end > piece.start) break;
      }
      return text.trim();
    },
  };
}

function isVoiced(sample: number): boolean {
  return Math.abs(sample) >= VOICED;
}

/** Joins two pieces; pieces of one text bring their own spaces, others need one. */
function joined(text: string, next: string): string {
  const needsSpace = /[^\s\p{Script=Han}。！？；，、]$/u.test(text) && /^[\p{L}\p{N}]/u.test(next);
  return needsSpace && !/^\p{Script=Han}/u.test(next) ? `${text} ${next}` : text + next;
}

/** Share of a piece that was heard, by time and without the silence around it. */
function heardShare(piece: Piece, position: number, sampleRateHz: number): number {
  if (piece.end === piece.start) return 0;
  const from = piece.firstVoiced ?? piece.start;
  if (position <= from) return 0;
  const known = piece.firstVoiced === undefined ? piece.end : piece.lastVoiced;
  const to = piece.isComplete ? known : Math.max(known, from + estimatedSamples(piece.text, sampleRateHz));
  return Math.min(1, (position - from) / Math.max(1, to - from));
}

function estimatedSamples(text: string, sampleRateHz: number): number {
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const seconds = han / HAN_CHARACTERS_PER_SECOND + (text.length - han) / CHARACTERS_PER_SECOND;
  return Math.round(seconds * sampleRateHz);
}

/** The words, or Chinese characters, that end within this share of the text. */
function wholeWords(text: string, share: number): string {
  if (share <= 0) return '';
  const trimmed = text.trimEnd();
  const limit = share * trimmed.length;
  let end = 0;
  for (const match of trimmed.matchAll(/\p{Script=Han}|[^\s\p{Script=Han}]+/gu)) {
    const wordEnd = match.index + match[0].length;
    if (wordEnd > limit) break;
    end = wordEnd;
  }
  return trimmed.slice(0, end);
}
