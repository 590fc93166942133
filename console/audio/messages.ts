/** Of the audio on the wire, both ways. */
export const WIRE_RATE_HZ = 24_000;
/** The name of the worklet's processor. */
export const PROCESSOR = 'callway-audio';

export type MarkOutcome = 'played' | 'cleared';

/** Samples of both directions at one moment, since the beginning. */
export interface Position {
  readonly playedSamples: number;
  readonly receivedSamples: number;
  readonly bufferDelayMs: number;
}

/** To the audio thread. */
export type ToProcessor =
  | { readonly kind: 'play'; readonly samples: Int16Array }
  | { readonly kind: 'mark'; readonly name: string }
  | { readonly kind: 'clear' }
  | { readonly kind: 'mute'; readonly isMuted: boolean };

/** From the audio thread. */
export type FromProcessor =
  /** The next 20 ms of the microphone. */
  | { readonly kind: 'frame'; readonly samples: Int16Array<ArrayBuffer> }
  | {
      readonly kind: 'mark';
      readonly name: string;
      readonly outcome: MarkOutcome;
      readonly position: Position;
    }
  | { readonly kind: 'cleared'; readonly position: Position }
  /** How loud both sides are, 0 to 1. */
  | { readonly kind: 'levels'; readonly caller: number; readonly agent: number };
