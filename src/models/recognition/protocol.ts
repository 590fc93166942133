import { writePcm16 } from '../../media/pcm16.ts';
import { ModelError } from '../ports/modelError.ts';
import type {
  RecognitionConnectionOptions,
  RecognitionEvent,
  TimedWord,
  TurnTranscript,
} from '../ports/streamingSpeechToText.ts';
import type { IsRefusal } from '../sockets/failures.ts';
import type { WebSocketTarget } from '../sockets/target.ts';

/** The messages of a vendor's WebSocket for streaming recognition. */
export interface RecognitionProtocol {
  /** The vendor, in logs and metrics. */
  readonly name: string;
  readonly detectsTurns: boolean;
  /** The rate that the audio is sent at. */
  sampleRateHz(wanted: number): 8000 | 16000 | 24000;
  /** The length of one audio message; more than a frame where the vendor wants it. */
  readonly chunkMs: number;
  /** A shorter message is refused: the rest before a request waits for more audio. Default: none. */
  readonly minChunkMs?: number;
  /** Connections are replaced from this age on, before the vendor ends them. Default: never. */
  readonly maxAgeMs?: number;
  /** The key, which is removed from what the vendor reports. */
  readonly secret?: string | undefined;
  /** Returns true for close codes that refuse the request. Default: 1008 and the private codes. */
  readonly isRefusal?: IsRefusal;
  /** Silence is sent as audio; a vendor that wants more than that is told this every so often. */
  readonly keepAlive?: { readonly message: string; readonly intervalMs: number };
  open(options: ProtocolOptions): ProtocolConnection;
}

/** The options of a connection, with the sample rate of the sent audio. */
export type ProtocolOptions = RecognitionConnectionOptions;

/** A connection's messages, and the audio that it has recognized. */
export interface ProtocolConnection {
  readonly target: WebSocketTarget;
  /** The first message of the connection. Audio follows it at once, without an answer. */
  readonly greeting?: string;
  encode(samples: Int16Array): string | Uint8Array;
  /** Asks for the final transcript; undefined when the vendor cannot be asked. */
  finalize(): string | undefined;
  /** The last message before the connection is closed. */
  readonly goodbye?: string;
  /** @throws {ModelError} When the message reports a failure; any other error means a malformed message. */
  decode(message: string): readonly RecognitionEvent[];
}

/** Encodes samples as 16-bit little-endian bytes. */
export function encodeL16(samples: Int16Array): Uint8Array {
  return writePcm16(samples.slice());
}

/** Turns an error that a vendor reports into ours. @param code - The vendor's error code; the text is only logged. */
export function reportedError(
  vendor: string,
  code: string | number | undefined,
  text: string,
  retryable: boolean,
): ModelError {
  const reports = retryable ? 'reports an error' : 'refuses the request';
  const told = /^[\w.-]{1,60}$/.test(String(code ?? '')) ? ` (${code})` : '';
  const message = `${vendor} ${reports}${told}: ${text.slice(0, 200)}`;
  return new ModelError(retryable ? 'model_unavailable' : 'model_rejected', message, { retryable });
}

/** A word with its times and confidence, when the vendor sends them. */
export interface HeardWord extends Partial<TimedWord> {
  readonly word: string;
  readonly confidence?: number | undefined;
}

/** Confidence is the words' mean; times are told where every word has them. */
export function turnTranscript(text: string, words: readonly HeardWord[], language?: string): TurnTranscript {
  const confidences = words.flatMap(({ confidence }) => confidence ?? []);
  const mean = confidences.reduce((sum, confidence) => sum + confidence, 0) / confidences.length;
  const timed = words.flatMap(({ word, startMs, endMs }) =>
    startMs === undefined || endMs === undefined ? [] : { word, startMs, endMs },
  );
  return {
    text: text.trim(),
    words: timed.length > 0 && timed.length === words.length ? timed : undefined,
    confidence: confidences.length > 0 ? mean : undefined,
    language,
  };
}
