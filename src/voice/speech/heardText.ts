/** About how fast synthetic voices speak, for what is still being made. */
const CHARACTERS_PER_SECOND = 15;
const WIDE_CHARACTERS_PER_SECOND = 5;
/** Below it a sample belongs to the quiet before and after the words. */
const LOUD = 400;

/** Which words lie where in an answer's samples, so that it is known what was heard up to any of them. */
export interface HeardText {
  /** The next piece of the text; the samples that follow are its speech. */
  begin(text: string): void;
  append(samples: Int16Array): void;
  /** The piece's speech is complete, or there will be no more of it. */
  end(isComplete: boolean): void;
  readonly lengthSamples: number;
  /** @param position - Samples from the answer's begin. @returns Whole words, as they were written. */
  heardAt(position: number): string;
}

interface Piece {
  readonly text: string;
  readonly start: number;
  end: number;
  firstLoud: number | undefined;
  lastLoud: number;
  isComplete: boolean;
}

export function createHeardText(sampleRateHz: number): HeardText {
  const pieces: Piece[] = [];
  let lengthSamples = 0;
  return {
    get lengthSamples() {
      return lengthSamples;
    },
    begin(text) {
      const start = lengthSamples;
      pieces.push({ text, start, end: start, firstLoud: undefined, lastLoud: start, isComplete: false });
    },
    append(samples) {
      const piece = pieces.at(-1);
      const start = lengthSamples;
      lengthSamples += samples.length;
      if (!piece) return;
      piece.end = lengthSamples;
      const [first, last] = [firstLoud(samples), lastLoud(samples)];
      if (first === undefined || last === undefined) return;
      piece.firstLoud ??= start + first;
      piece.lastLoud = start + last + 1;
    },
    end(isComplete) {
      const piece = pieces.at(-1);
      if (piece) piece.isComplete = isComplete;
    },
    heardAt(position) {
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

function firstLoud(samples: Int16Array): number | undefined {
  for (let n = 0; n < samples.length; n++) if (Math.abs(samples[n] ?? 0) >= LOUD) return n;
  return undefined;
}

function lastLoud(samples: Int16Array): number | undefined {
  for (let n = samples.length - 1; n >= 0; n--) if (Math.abs(samples[n] ?? 0) >= LOUD) return n;
  return undefined;
}

/** Pieces of one text bring their spaces along; what comes from elsewhere does not. */
function joined(text: string, next: string): string {
  const needsSpace = /[^\s\p{Script=Han}。！？；，、]$/u.test(text) && /^[\p{L}\p{N}]/u.test(next);
  return needsSpace && !/^\p{Script=Han}/u.test(next) ? `${text} ${next}` : text + next;
}

/** How much of a piece was heard: by time, without the quiet around it. */
function heardShare(piece: Piece, position: number, sampleRateHz: number): number {
  if (piece.end === piece.start) return 0;
  const from = piece.firstLoud ?? piece.start;
  if (position <= from) return 0;
  const known = piece.firstLoud === undefined ? piece.end : piece.lastLoud;
  const to = piece.isComplete ? known : Math.max(known, from + estimatedSamples(piece.text, sampleRateHz));
  return Math.min(1, (position - from) / Math.max(1, to - from));
}

function estimatedSamples(text: string, sampleRateHz: number): number {
  const wide = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const seconds = wide / WIDE_CHARACTERS_PER_SECOND + (text.length - wide) / CHARACTERS_PER_SECOND;
  return Math.round(seconds * sampleRateHz);
}

/** The words, or characters of scripts without spaces, that end within this share of the text. */
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
