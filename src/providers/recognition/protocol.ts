import type { RecognitionConnectionOptions, RecognitionEvent } from '../ports/streamingSpeechToText.ts';

/** What a vendor's WebSocket for streaming recognition says and understands. */
export interface RecognitionProtocol {
  /** The vendor, in logs and metrics. */
  readonly name: string;
  readonly detectsTurns: boolean;
  /** The rate that the audio is sent at. */
  sampleRateHz(wanted: number): 8000 | 16000 | 24000;
  /** Samples in one audio message; more than a frame where the vendor wants it. */
  readonly chunkMs: number;
  /** Connections are replaced before the vendor ends them. Default: never. */
  readonly maxAgeMs?: number;
  /** Silence is sent as audio; a vendor that wants more than that is told this every so often. */
  readonly keepAlive?: { readonly message: string; readonly intervalMs: number };
  open(options: ProtocolOptions): ProtocolConnection;
}

/** With the rate that the audio is sent at. */
export type ProtocolOptions = RecognitionConnectionOptions;

/** One connection: its messages, and what it has heard. */
export interface ProtocolConnection {
  readonly target: WebSocketTarget;
  /** Sent first. */
  readonly greeting?: string;
  encode(samples: Int16Array): string | Uint8Array;
  /** Asks for the final transcript; undefined where the vendor cannot be asked. */
  finalize(): string | undefined;
  /** Sent before the connection is closed. */
  readonly goodbye?: string;
  /** @throws {ModelError} What the vendor reports; any other error is a malformed message. */
  decode(message: string): readonly RecognitionEvent[];
}

export interface WebSocketTarget {
  /** `wss:` or `ws:`. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly subprotocol?: string;
}

/** Little-endian 16-bit samples. */
export function encodeL16(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.length * 2);
  const view = new DataView(bytes.buffer);
  for (const [index, sample] of samples.entries()) view.setInt16(index * 2, sample, true);
  return bytes;
}

/** The address of a WebSocket on a vendor's host. @param baseUrl - `https:` or `http:`. */
export function webSocketUrl(baseUrl: string, path: string, query: Record<string, string> = {}): URL {
  const url = new URL(path, baseUrl);
  url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:';
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}
