import { isSpoken, WORD } from '../../conversation/speech/editedText.ts';
import { estimatedMs } from '../../conversation/speech/spokenText.ts';
import type { WrittenText } from '../../conversation/speech/writtenText.ts';
import type { TimedWord } from '../../models/ports/streamingSpeechToText.ts';

/** Softer samples are the silence around the words. */
const VOICED = 400;

/** Maps an answer's samples to its words, to tell which words were heard up to a position. */
export interface HeardText {
  /** Starts the next piece of the text, which may grow; the samples that follow are its speech. */
  beginPiece(text: string | WrittenText): void;
  /** The piece's next words, with times from its first sample. */
  addWords(words: readonly TimedWord[]): void;
  /** The samples that follow are of the piece's text from here on: another voice goes on with it. */
  splitPiece(at: number): void;
  /** The first samples of the piece were silence, and are not played. */
  skip(samples: number): void;
  append(samples: Int16Array): void;
  /** Marks the piece complete: all of its samples were appended. */
  completePiece(): void;
  readonly lengthSamples: number;
  /** @param position - Samples from the answer's start. @returns Whole words, as they were written. */
  textAt(position: number): string;
}

interface Piece {
  readonly written: string | WrittenText;
  /** The offset at which the piece's part of the text begins. */
  readonly from: number;
  to: number | undefined;
  readonly words: TimedWord[];
  /** Silence at its beginning that is not played. */
  skipped: number;
  readonly start: number;
  end: number;
  firstVoiced: number | undefined;
  lastVoiced: number;
  isComplete: boolean;
}

export function createHeardText(sampleRateHz: number): HeardText {
  const pieces: Piece[] = [];
  let lengthSamples = 0;
  const begin = (written: string | WrittenText, from: number) =>
    pieces.push({
      written,
      from,
      to: undefined,
      words: [],
      skipped: 0,
      start: lengthSamples,
      end: lengthSamples,
      firstVoiced: undefined,
      lastVoiced: lengthSamples,
      isComplete: false,
    });
  return {
    get lengthSamples() {
      return lengthSamples;
    },
    beginPiece(text) {
      begin(text, 0);
    },
    splitPiece(at) {
      const piece = pieces.at(-1);
      if (!piece) return;
      piece.to = at;
      piece.isComplete = true;
      begin(piece.written, at);
    },
    addWords(words) {
      pieces.at(-1)?.words.push(...words.filter(({ word }) => isSpoken(word)));
    },
    skip(samples) {
      const piece = pieces.at(-1);
      if (piece) piece.skipped += samples;
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
        const whole = textOf(piece);
        // A voice that failed has spoken a part, and the next piece follows.
        const isPast = !piece.isComplete && position > piece.end;
        const share = heardShare(piece, isPast ? piece.end : position, sampleRateHz);
        text = joined(text, share >= 1 ? whole : wholeWords(whole, share));
        if (share < 1 && !isPast && piece.end > piece.start) break;
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

function textOf({ written, from, to }: Piece): string {
  return (typeof written === 'string' ? written : written.text).slice(from, to);
}

/** Share of a piece that was heard: by its words' times, or by time without the silence around it. */
function heardShare(piece: Piece, position: number, sampleRateHz: number): number {
  if (piece.end === piece.start) return 0;
  if (piece.words.length > 0) return heardWordsShare(piece, position, sampleRateHz);
  const from = piece.firstVoiced ?? piece.start;
  if (position <= from) return 0;
  const known = piece.firstVoiced === undefined ? piece.end : piece.lastVoiced;
  const estimated = estimatedSamples(textOf(piece), sampleRateHz);
  const to = piece.isComplete ? known : Math.max(known, from + estimated);
  return Math.min(1, (position - from) / Math.max(1, to - from));
}

/** Vendors spell numbers and signs out: where their words are others than ours, the share of them counts. */
function heardWordsShare(piece: Piece, position: number, sampleRateHz: number): number {
  const heardMs = ((position - piece.start + piece.skipped) * 1000) / sampleRateHz;
  const heard = piece.words.filter(({ endMs }) => endMs <= heardMs).length;
  if (piece.isComplete && heard === piece.words.length) return 1;
  const text = textOf(piece).trimEnd();
  const ours = [...text.matchAll(WORD)].filter(([word]) => isSpoken(word));
  const isAligned = piece.isComplete ? ours.length === piece.words.length : ours.length >= piece.words.length;
  if (!isAligned) return heard / piece.words.length;
  const last = ours[heard - 1];
  return last ? (last.index + last[0].length) / text.length : 0;
}

function estimatedSamples(text: string, sampleRateHz: number): number {
  return Math.round((estimatedMs(text) * sampleRateHz) / 1000);
}

/** The words, or Chinese characters, that end within this share of the text. */
function wholeWords(text: string, share: number): string {
  if (share <= 0) return '';
  const trimmed = text.trimEnd();
  const limit = share * trimmed.length;
  let end = 0;
  for (const match of trimmed.matchAll(WORD)) {
    const wordEnd = match.index + match[0].length;
    if (wordEnd > limit) break;
    end = wordEnd;
  }
  return trimmed.slice(0, end);
}
