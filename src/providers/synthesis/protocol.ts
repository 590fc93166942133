import type { SampleRateHz } from '../../media/resample/resampler.ts';
import type { SpokenVoice, SynthesisEvent } from '../ports/streamingTextToSpeech.ts';
import type { WebSocketTarget } from '../recognition/protocol.ts';

/** What a vendor's WebSocket for streaming synthesis says and understands. */
export interface SynthesisProtocol {
  /** The vendor, in logs and metrics. */
  readonly name: string;
  readonly sampleRateHz: SampleRateHz;
  readonly target: WebSocketTarget;
  /** Whether audio tells which text it is of. */
  readonly namesAudio: boolean;
  /** A vendor that closes idle connections is told this every so often. */
  readonly keepAlive?: { readonly message: string; readonly intervalMs: number };
  /** One connection. */
  open(): SynthesisProtocolConnection;
}

export interface SynthesisProtocolConnection {
  /** The messages that begin a text. @param id - Unique on the connection. */
  begin(id: string, voice: SpokenVoice): readonly string[];
  write(id: string, text: string): readonly string[];
  end(id: string): readonly string[];
  cancel(id: string): readonly string[];
  /** @throws {ModelError} What the vendor reports for the whole connection; any other error is a malformed message. */
  decode(message: Buffer, isBinary: boolean): readonly IdentifiedEvent[];
}

/** An event of one text; an absent id means the oldest text that is open. */
export type IdentifiedEvent = SynthesisEvent & { readonly id?: string | undefined };

/** Little-endian 16-bit samples, with memory of their own. */
export function decodeL16(bytes: Uint8Array): Int16Array {
  const samples = new Int16Array(Math.floor(bytes.length / 2));
  const view = new DataView(bytes.buffer, bytes.byteOffset, samples.length * 2);
  for (let n = 0; n < samples.length; n++) samples[n] = view.getInt16(n * 2, true);
  return samples;
}
