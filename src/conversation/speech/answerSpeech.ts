import type { CurrentNode, Delivered } from '../../engine/turn/delivery.ts';
import type { SpokenAnswer } from '../../models/ports/chatModel.ts';
import type { InterruptionPolicy } from './piecePolicies.ts';

/** What happens to a spoken answer. */
export interface AnswerSpeechEvents {
  /** The first text is complete as far as it is synthesized at once. */
  readonly onFirstSentence: () => void;
  /** The first of it was sent to the stream. */
  readonly onFirstSamples: () => void;
  /** The first of it was heard. */
  readonly onStarted: (at: { readonly streamMs: number; readonly bufferDelayMs: number }) => void;
  /** A sentence could not be spoken. */
  readonly onFailure: (error: unknown) => void;
}

/** Estimated from the pacing, or told by the peer with the interruption. */
export type HeardSource = NonNullable<Delivered['heard']>;

/** One answer of the agent, said while it is written: as audio, or as text where the gateway has a voice. */
export interface AnswerSpeech {
  readonly playout: {
    /** Resolves once all was played, or once it is known where it was stopped. */
    readonly ended: Promise<'played' | 'stopped'>;
    /** How long a stop took; undefined where none was asked for, or it is not known. */
    readonly stopMs: number | undefined;
    pause(): void;
    resume(): void;
  };
  /** Whether everything said so far was heard and more may follow. */
  readonly isStarved: boolean;
  /** The vendor that spoke last; undefined before the first words. */
  readonly provider: string | undefined;
  /** How {@link heardText} is known when the peer does not report what it plays; undefined when it does. */
  readonly heard: HeardSource | undefined;
  /** Starts the words of another node. @see PiecePolicies.enterNode */
  enterNode(policy: InterruptionPolicy, ownsLastWords: boolean): void;
  /** @returns A promise where the node's voice is not ready at once. */
  useVoiceOf(current: CurrentNode): Promise<void> | undefined;
  /** Plays what a model says itself; its words follow by {@link writeSpoken}. */
  play(speech: SpokenAnswer): void;
  /** The next words of what a model says itself. */
  writeSpoken(text: string): void;
  /** Speaks the next part of a text that goes on. */
  write(text: string): void;
  /** The text that was written goes on no more. */
  completeText(): void;
  /** Speaks a text that is complete, after the words that are whole of one that goes on. */
  say(text: string): void;
  /** Ends the answer; nothing is added from now on. */
  finish(): void;
  /** Stops for good. Idempotent. */
  stop(): void;
  /** Returns what was heard so far, in whole words. */
  heardText(): string;
  heardMs(): number;
  /** Call regularly, on an audio stream with each frame of the caller. @param isOnHold - The peer plays nothing. */
  onFrame(isOnHold: boolean): void;
  /** The stream has closed: nothing more is reported. */
  onClosed(): void;
}
