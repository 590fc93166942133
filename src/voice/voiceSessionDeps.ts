import type { Clock } from '../base/clock.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import type { TurnCheckpointStore } from '../engine/session/interruptedTurn.ts';
import type { HistoryEvent, NewSession, SessionMessage } from '../engine/session/session.ts';
import type { SpeechToText } from '../providers/ports/speechToText.ts';
import type { VoiceActivityDetection } from '../providers/ports/voiceActivity.ts';
import type { AudioStream } from './audioStream.ts';
import type { SpeechSynthesis } from './speech/speechSynthesis.ts';
import type { SpokenTurn } from './voiceReport.ts';

export interface VoiceSessionDeps {
  readonly stream: AudioStream;
  readonly conversations: Pick<ConversationEngine, 'runTurn'>;
  /** Adds to a session's history what belongs to no turn. */
  readonly addEvents: (instanceId: string, events: readonly HistoryEvent[]) => Promise<void>;
  /** Likewise, what was said after the session had ended. */
  readonly addMessages: (instanceId: string, messages: readonly SessionMessage[]) => Promise<void>;
  /** Where turns under way are noted, for whoever goes on when this process dies. */
  readonly turnNotes?: Pick<TurnCheckpointStore, 'put' | 'drop'> | undefined;
  readonly source: SpeechSynthesis;
  readonly speechToText: SpeechToText;
  readonly activity: VoiceActivityDetection;
  readonly clock: Clock;
  /** @see TurnTakerDeps.onTurn */
  readonly onTurn?: ((turn: SpokenTurn) => void) | undefined;
  readonly onError: (error: unknown, what: string) => void;
}

export interface VoiceSessionOptions {
  readonly session: NewSession;
  /** Tag of the language until the session's variable `language` says another. */
  readonly language: string;
  /** Whether machines may answer: they are looked for beside the talk. */
  readonly detectAnsweringMachine: boolean;
  /** The agent has spoken in this session before, on a stream that is gone: it goes on, and greets nobody again. */
  readonly isResumed: boolean;
}
