import type { DueDisclosure } from '../../agents/disclosures.ts';
import type { EventSource } from '../../base/emitter.ts';
import type { CallFacts, Session } from '../../engine/session/session.ts';
import type {
  AgentControl,
  CallCommand,
  Caption,
  FailoverPrompts,
  MarkReport,
  PeerRequest,
  PlayoutPosition,
  TransferStatus,
} from '../../media/agentStream/streamClient.ts';

/**
 * The audio of one call or web session, independent of the stream's dialect.
 *
 * The caller's samples arrive without gaps, silence included, so that their count is a clock: the stream's clock. Played
 * samples are queued at the peer, which alone knows what was heard.
 */
export interface AudioStream {
  readonly info: StreamInfo;
  readonly events: EventSource<AudioStreamEvents>;
  /** Queues any number of samples at the stream's rate. Takes ownership of the array. */
  play(samples: Int16Array): void;
  /** Queues a mark; `mark` follows once everything queued before it was played or cleared. */
  mark(name: string): void;
  /** Stops playback within a frame and clears the queue; `cleared` follows, after the cleared marks. */
  clear(): void;
  /** Peers ignore what their dialect lacks, but for `hangup`, which closes the stream. */
  command(command: CallCommand): void;
  /** Sets what the caller hears when this process fails. Other carriers' peers ignore it. */
  setFailoverPrompts(prompts: FailoverPrompts): void;
  /** Ignored by dialects without captions. */
  caption(caption: Caption): void;
  /** The caller begins or ceases to speak. Ignored as captions are. @param atMs - On the stream's clock. */
  callerSpeech(isSpeaking: boolean, atMs: number): void;
  /** The stream's clock. */
  readonly receivedSamples: number;
  /** Returns what came before the first call of this method; empty from then on. */
  takeEarly(): EarlyInput;
  close(code?: number, reason?: string): void;
}

/** What came before the session listened. */
export interface EarlyInput {
  /** What supervisors had asked of the agent, in order. */
  readonly controls: readonly AgentControl[];
  /** DTMF digits of the caller. */
  readonly digits: readonly string[];
}

export interface StreamInfo {
  /** The sample rate of both directions: 8000, 16000 or 24000. */
  readonly sampleRateHz: number;
  /** The peer reports nothing of what it has played: what was heard is estimated from the pacing. */
  readonly isHeardEstimated?: boolean | undefined;
  readonly projectId: string;
  readonly sessionId: string;
  /** The id of a call on our own trunks; undefined for streams of other carriers and of test tools. */
  readonly callId?: string;
  /** The W3C `traceparent` of the call's span. */
  readonly traceparent?: string;
  readonly opening?: StreamOpening;
  /** The other party that the stream serves; undefined on a conversation with the caller. */
  readonly party?: StreamParty;
  /** What the agent has still to say before the first node; undefined for nothing. */
  readonly disclosures?: readonly DueDisclosure[];
  /** The agent has the call again after this transfer, on another stream than before. */
  readonly failedTransfer?: FailedTransfer;
  /** The customer's bot that answers in the agent's place, with our recognition and voices. */
  readonly bot?: BotTarget;
  readonly customParameters: Readonly<Record<string, string>>;
  /** Whether the peer is told what both sides say. */
  readonly captions?: boolean;
}

/** A customer's bot, as a stream names it. */
export interface BotTarget {
  readonly url: string;
  /** The dialect of the text turns. */
  readonly dialect: string;
  readonly streamId: string;
  /**
   * The sealed headers of the request that opens the connection. Streams wait in a store for their connection, so these
   * are encrypted.
   */
  readonly sealedHeaders: string;
  readonly customParameters: Readonly<Record<string, string>>;
}

/** A transfer that has not succeeded. */
export interface FailedTransfer {
  readonly to: string;
  readonly reason: string;
  /** `busy`, `no_answer` or `failed`. */
  readonly outcome: string;
}

/** A stream that is no conversation of the agent with the caller. */
export type StreamParty =
  /** A transfer target that the agent tells about the call. */
  | {
      readonly kind: 'briefing';
      readonly to: string;
      /** A template; undefined for the agent's own words. */
      readonly announce?: string;
      readonly acceptBy: 'answer' | 'digit' | 'speech';
      readonly acceptDigit: string;
    }
  /** One side of a transferred call, whose words are added to the history. @property to - The transfer target. */
  | { readonly kind: 'listener'; readonly speaker: 'caller' | 'target'; readonly to: string };

/** What the first stream of a new session brings along, so that the agent's first words wait for no database. */
export interface StreamOpening {
  /** The session as it is when the stream opens. */
  readonly session: Session;
  /** What else the first words need from the database; sealed. */
  readonly readAhead?: string | undefined;
  readonly call?: {
    readonly facts: CallFacts;
    readonly detectsAnsweringMachine: boolean;
    /** Whether the number's settings suppress noise; undefined where they leave it to the agent. */
    readonly noiseSuppression?: boolean | undefined;
  };
}

export interface AudioStreamEvents {
  /** The caller's next samples, usually 20 ms; valid during the listener's call only. */
  readonly audio: Int16Array;
  readonly dtmf: { readonly digit: string };
  /** The peer pauses playback while held. Unknown to other carriers' dialects. */
  readonly hold: { readonly isHeld: boolean };
  readonly mark: MarkReport;
  readonly cleared: PlayoutPosition;
  /** The progress of a transfer that the agent or the API requested. */
  readonly transfer: TransferStatus;
  /** A supervisor's order to the agent. */
  readonly control: AgentControl;
  readonly request: PeerRequest;
  /** The last event. */
  readonly closed: { readonly code: number; readonly reason: string };
}
