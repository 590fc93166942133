import type { Emitter } from '../base/emitter.ts';
import type {
  CallCommand,
  FailoverPrompts,
  MarkReport,
  PlayoutPosition,
  TransferStatus,
} from '../media/agentStream/streamClient.ts';
import type { DialectName } from '../streams/dialects/index.ts';

/**
 * One call's audio as the voice engine has it: a WebSocket's other side, whatever it speaks.
 *
 * The caller's samples come without gaps on the stream's clock, silence included, so that their count is a time. What
 * the engine plays is queued at the other side, which alone knows what has sounded.
 */
export interface AudioStream {
  readonly info: StreamInfo;
  readonly events: Pick<Emitter<AudioStreamEvents>, 'on'>;
  /** Queues samples at the stream's rate; any length. The array must be left alone. */
  play(samples: Int16Array): void;
  /** Comes back by the event `mark` when all that was queued before it has sounded, or was cleared. */
  mark(name: string): void;
  /** Stops what sounds within a frame and drops what is queued; `cleared` follows, after the marks that were dropped. */
  clear(): void;
  /** Ignored by peers that know only Twilio's messages, but for `hangup`, which closes the stream. */
  command(command: CallCommand): void;
  /** Leaves what is to be heard at the other side when this one is gone. Ignored by peers that know only Twilio's messages. */
  setFailoverPrompts(words: FailoverPrompts): void;
  /** Samples received so far: the stream's clock. */
  readonly receivedSamples: number;
  /** Idempotent. */
  close(code?: number, reason?: string): void;
}

export interface StreamInfo {
  readonly streamId: string;
  readonly dialect: DialectName;
  /** Of both directions: 8000, 16000 or 24000. */
  readonly sampleRateHz: number;
  readonly projectId: string;
  readonly sessionId: string;
  /** A call of ours; undefined for streams of foreign carriers and test tools. */
  readonly callId?: string;
  /** Of the call's span. */
  readonly traceparent?: string;
  readonly customParameters: Readonly<Record<string, string>>;
}

export interface AudioStreamEvents {
  /** The caller's next samples, 20 ms as a rule; valid during the call only. */
  readonly audio: Int16Array;
  readonly dtmf: { readonly digit: string };
  /** The other side does not hear us until it is over; what was queued waits. Not known of Twilio's dialect. */
  readonly hold: { readonly isHeld: boolean };
  readonly mark: MarkReport;
  readonly cleared: PlayoutPosition;
  /** How a transfer goes, whoever asked for it. */
  readonly transfer: TransferStatus;
  /** Nothing comes after it. */
  readonly closed: { readonly code: number; readonly reason: string };
}
