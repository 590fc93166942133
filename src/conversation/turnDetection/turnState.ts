import type { TurnInput } from '../../engine/turn/turn.ts';
import type { CallerTurn } from './endpointing.ts';
import type { Utterance } from './speechActivity.ts';
import type { TurnPolicy } from './turnSettings.ts';

export type TurnPhase =
  /** Neither side speaks. */
  | 'idle'
  /** The caller speaks. */
  | 'listening'
  /** A turn of the agent runs, and nothing of it has been heard. */
  | 'thinking'
  /** The agent speaks. */
  | 'speaking'
  /** The agent's speech is paused until it is clear whether the caller interrupts. */
  | 'paused'
  /** The call is being transferred or taken over, or an answering machine has answered. */
  | 'suspended'
  | 'ended';

export interface TurnState {
  readonly phase: TurnPhase;
  /** Start of the phase, on the stream's clock. */
  readonly sinceMs: number;
  /** What the cancelled turn was about; the next turn's text starts with it. */
  readonly carriedText: string;
  /** The caller's words that the running turn answers. */
  readonly answeredText: string;
  /** The transcript of the whole open utterance; undefined while it is not known. */
  readonly transcript: string | undefined;
  /** The transcript was requested for the speech up to here; undefined once the caller has continued. */
  readonly requestedToMs: number | undefined;
  /** What the recognizer says about the caller's turn: that it has probably ended, or has. */
  readonly recognizedEnd: 'eager_end' | 'end_of_turn' | undefined;
  /** The caller's words that a preemptive turn answers, of which nothing is played; undefined where none runs. */
  readonly preemptiveText: string | undefined;
  /** Preemptive turns that were started in this turn of the caller. */
  readonly preemptiveTurns: number;
  /** The caller's silence was long enough; only the transcript is missing. */
  readonly isEndOfTurn: boolean;
  /** A short answer given over the agent's last words; empty where it is not known. */
  readonly earlyAnswer: { readonly text: string; readonly endMs: number } | undefined;
  /** What the caller said over a disclosure, which is answered after the last one. */
  readonly keptText: string;
  /** DTMF digits that wait: for an agent that may not be interrupted, or for the transcript of what preceded them. */
  readonly pendingDigits: { readonly digits: string; readonly atMs: number } | undefined;
  /** The answer waits: the caller has begun to speak again before anything of it was heard. */
  readonly isHeld: boolean;
  /** End of the speech that is being answered; undefined where the turn does not answer speech. */
  readonly answeredSpeechEndMs: number | undefined;
  /** When the newest answer was first heard. */
  readonly agentStartedMs: number;
  /** Start of a silence that the agent has reprompted in; undefined before the reprompt. On the stream's clock. */
  readonly silentSinceMs: number | undefined;
  /** The silence that a sound has interrupted, which goes on where the sound was no speech. */
  readonly interruptedSilence: Pick<TurnState, 'sinceMs' | 'silentSinceMs'> | undefined;
  /** Consecutive silences. */
  readonly silences: number;
  /** How often in a row the caller was not understood. */
  readonly reprompts: number;
}

/** What a recognizer says about the caller's turn. */
export type TurnSignal = 'eager_end' | 'turn_resumed' | 'end_of_turn';

export type TurnEvent =
  /** 20 ms of the stream have passed. */
  | { readonly type: 'frame' }
  /** The requested transcript of the open utterance. */
  | { readonly type: 'transcript'; readonly text: string; readonly isBackchannel: boolean }
  | { readonly type: 'transcription_failed'; readonly message: string }
  /** Words of the last utterance, whose transcript was given up, and after which the caller has said nothing. */
  | { readonly type: 'late_words'; readonly text: string }
  | { readonly type: 'turn_signal'; readonly signal: TurnSignal }
  /** A digit was pressed; `dtmf_entry` follows once the digits are complete. */
  | { readonly type: 'dtmf_digit' }
  | { readonly type: 'dtmf_entry'; readonly digits: string }
  /** A gateway that recognizes and speaks itself has the caller's finished words. */
  | { readonly type: 'finished_text'; readonly text: string }
  /** It hears the caller, who has not finished. */
  | { readonly type: 'partial_text' }
  /** It has stopped speaking since the caller speaks. */
  | { readonly type: 'gateway_interrupted'; readonly heard: HeardAnswer }
  /** The first sample of the agent's answer was played. */
  | { readonly type: 'agent_started_speaking' }
  /** The answer was played to its end, or there was none. */
  | { readonly type: 'agent_turn_ended' }
  /** The agent starts a turn without an event of the caller, as after a failure. */
  | { readonly type: 'agent_turn_started' }
  | { readonly type: 'machine_detected' }
  /** A person answered, not a machine: the caller's words, which are still open, get an answer. */
  | { readonly type: 'machine_refuted' }
  /** The answering machine records. */
  | { readonly type: 'machine_recording'; readonly evidence: string }
  | { readonly type: 'transfer_started'; readonly isByAgent: boolean }
  /** A supervisor speaks in the agent's place. */
  | { readonly type: 'taken_over' }
  /** A supervisor has paused the agent, or the person at the peer has stopped its answer. */
  | { readonly type: 'agent_stopped' }
  | { readonly type: 'session_ending' };

export type TurnEffect =
  | { readonly type: 'request_transcript' }
  | { readonly type: 'discard_utterance' }
  /** The utterance is closed, and its transcript still awaited: `late_words` may follow. */
  | { readonly type: 'await_late_words' }
  /** The caller continued after this pause, and after these words, as far as they were known. */
  | {
      readonly type: 'caller_continued';
      readonly pauseMs: number;
      readonly transcript: string | undefined;
    }
  /** The agent answered after this pause in the middle of the caller's sentence. */
  | { readonly type: 'endpointed_too_early'; readonly pauseMs: number }
  /** The utterance gets no answer but belongs to the history. */
  | { readonly type: 'keep_unanswered' }
  /** Hold the answer: nothing of it is played until it is released. */
  | { readonly type: 'hold_agent' }
  | { readonly type: 'release_agent' }
  | { readonly type: 'pause_agent' }
  | { readonly type: 'resume_agent' }
  /** The caller interrupts: the answer is truncated to what was heard. */
  | { readonly type: 'interrupt_agent'; readonly heard?: HeardAnswer }
  /** The answer, which the gateway has whole, counts as heard. */
  | { readonly type: 'assume_played' }
  /** The answer is truncated without an interruption. */
  | { readonly type: 'stop_agent' }
  /** Undo the turn: nothing of it was heard. */
  | { readonly type: 'cancel_turn' }
  | {
      readonly type: 'start_turn';
      readonly input: TurnInput;
      /** The agent hangs up after it. */
      readonly isLast?: boolean;
      /** What the caller said before and the turn does not answer. */
      readonly unansweredText?: string;
    }
  /** Starts a turn before the caller's end is sure. */
  | { readonly type: 'start_preemptive_turn'; readonly input: TurnInput }
  /** The end is sure: the preemptive turn is played and kept. */
  | { readonly type: 'commit_preemptive_turn'; readonly input: TurnInput }
  /** The caller has continued: the preemptive turn is dropped without a trace. */
  | { readonly type: 'cancel_preemptive_turn' };

/** The part of an answer that a gateway reports as heard, and its length where it is known. */
export interface HeardAnswer {
  readonly text: string;
  readonly ms: number | undefined;
}

/** A text stream's gateway, which recognizes and speaks itself. */
export interface Gateway {
  /** The newest answer; undefined before the first. */
  readonly answer:
    | { readonly hasBegun: boolean; readonly isFinished: boolean; readonly isInterruptible: boolean }
    | undefined;
}

export interface TurnContext {
  /** The time on the stream's clock. */
  readonly atMs: number;
  readonly utterance: Utterance | undefined;
  /** Speech may be starting. */
  readonly isSpeechOnset: boolean;
  readonly policy: TurnPolicy;
  /** The silence that ends the caller's turn. */
  readonly endpointingDelayMs: (turn: CallerTurn) => number;
  /** Silence that is worth a transcript request; most pauses within a turn are shorter. */
  readonly requestAfterMs: number;
  /** Silence after which a preemptive turn is started; undefined for never. */
  readonly preemptAfterMs: (turn: CallerTurn) => number | undefined;
  /** The input of the running turn. */
  readonly answering: TurnInput['kind'] | undefined;
  /** The caller has put the agent on hold and hears nothing, or the agent is paused. */
  readonly isOnHold: boolean;
  /** A supervisor has paused the agent: what the caller says is stored, and gets no answer. */
  readonly isPaused: boolean;
  /** The other end of a text stream; undefined on an audio stream. */
  readonly gateway?: Gateway | undefined;
}

export const INITIAL_TURN_STATE: TurnState = {
  phase: 'thinking',
  sinceMs: 0,
  carriedText: '',
  answeredText: '',
  transcript: undefined,
  requestedToMs: undefined,
  recognizedEnd: undefined,
  preemptiveText: undefined,
  preemptiveTurns: 0,
  isEndOfTurn: false,
  earlyAnswer: undefined,
  keptText: '',
  pendingDigits: undefined,
  isHeld: false,
  answeredSpeechEndMs: undefined,
  agentStartedMs: 0,
  silentSinceMs: undefined,
  interruptedSilence: undefined,
  silences: 0,
  reprompts: 0,
};
