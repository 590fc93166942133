import type { TurnInput } from '../../engine/turn/turn.ts';
import type { Utterance } from '../recognition/speechActivity.ts';
import type { TurnPolicy } from './turnPolicy.ts';

export type TurnPhase = 'quiet' | 'hearing' | 'thinking' | 'speaking' | 'held' | 'waiting' | 'over';

export interface TurnState {
  readonly phase: TurnPhase;
  /** When it came to that, on the stream's clock. */
  readonly sinceMs: number;
  /** Words of a turn that was taken back, to be joined with what follows. */
  readonly carried: string;
  /** All words of the open utterance; undefined while they are not known. */
  readonly words: string | undefined;
  /** They have been asked for, of what the caller said up to then; undefined once there is more. */
  readonly askedToMs: number | undefined;
  /** The caller's silence was long enough; only the words are missing. */
  readonly isEnded: boolean;
  readonly lateAnswer: { readonly text: string; readonly endMs: number } | undefined;
  /** Keys that came while the agent could not be interrupted, or amid words that are not known yet. */
  readonly keys: { readonly digits: string; readonly atMs: number } | undefined;
  /** End of the caller's voice in the turn that is being answered; undefined where it was not words. */
  readonly turnEndMs: number | undefined;
  /** When the newest answer began to sound. */
  readonly soundedMs: number;
  /** Silences, and failures to understand, one after the other. */
  readonly silences: number;
  readonly pardons: number;
}

export type TurnEvent =
  /** 20 ms of the stream have passed. */
  | { readonly type: 'frame' }
  /** What the recogniser made of the open utterance. */
  | { readonly type: 'words'; readonly text: string; readonly isAcknowledgement: boolean }
  | { readonly type: 'words_failed'; readonly message: string }
  /** A key was pressed; what the keys mean together comes as `keys`. */
  | { readonly type: 'key' }
  | { readonly type: 'keys'; readonly digits: string }
  /** The first sample of the agent's answer went out. */
  | { readonly type: 'sounding' }
  /** The answer is over: it has sounded, or there was none. */
  | { readonly type: 'answered' }
  /** Another turn follows at once, by the agent's own doing. */
  | { readonly type: 'rethinking' }
  /** It is a machine that listens; then that it records. */
  | { readonly type: 'machine' }
  | { readonly type: 'recording'; readonly evidence: string }
  /** The call is being handed over, by the agent itself or over its head: nobody is answered meanwhile. */
  | { readonly type: 'handing_over'; readonly isByAgent: boolean }
  /** Nothing more is to be done but to hang up. */
  | { readonly type: 'ending' };

export type TurnEffect =
  | { readonly type: 'ask_words' }
  /** The caller went on after a pause of so much. */
  | { readonly type: 'went_on'; readonly pauseMs: number }
  | { readonly type: 'forget_utterance' }
  /** The utterance is answered by nobody, and is history all the same. */
  | { readonly type: 'set_aside' }
  | { readonly type: 'hold' }
  | { readonly type: 'resume' }
  /** The agent's answer ends here. */
  | { readonly type: 'cut' }
  /** The agent's answer ends here, and nobody cut in. */
  | { readonly type: 'leave' }
  /** The agent's answer is not to be: nothing of it was heard. */
  | { readonly type: 'take_back' }
  /** The agent had begun after a pause of so much in the middle of the caller's words. */
  | { readonly type: 'was_too_soon'; readonly pauseMs: number }
  | {
      readonly type: 'take_turn';
      readonly input: TurnInput;
      readonly isLast?: boolean;
      /** Words of the caller's before it that it does not answer. */
      readonly said?: string;
    };

export interface TurnContext {
  /** On the stream's clock. */
  readonly atMs: number;
  readonly utterance: Utterance | undefined;
  /** The caller may just be beginning to speak: it is not sure yet. */
  readonly mayBegin: boolean;
  readonly policy: TurnPolicy;
  /** The silence that ends the caller's turn, as things stand. */
  readonly endPauseMs: () => number;
  /** What the answer under way answers. */
  readonly answering: TurnInput['kind'] | undefined;
  /** The caller hears nothing for now, and need not say anything. */
  readonly isOnHold: boolean;
}

export const INITIAL_TURN_STATE: TurnState = {
  phase: 'thinking',
  sinceMs: 0,
  carried: '',
  words: undefined,
  askedToMs: undefined,
  isEnded: false,
  lateAnswer: undefined,
  keys: undefined,
  turnEndMs: undefined,
  soundedMs: 0,
  silences: 0,
  pardons: 0,
};
