import { readPcm16 } from '../../media/pcm16.ts';
import type { SampleRateHz } from '../../media/resample/resampler.ts';
import { ModelError } from '../ports/modelError.ts';
import type { SynthesisEvent } from '../ports/streamingTextToSpeech.ts';
import type { SpokenVoice } from '../ports/textToSpeech.ts';
import type { WebSocketTarget } from '../sockets/target.ts';

/** The messages of a vendor's WebSocket for streaming synthesis. */
export interface SynthesisProtocol {
  /** The vendor, in logs and metrics. */
  readonly name: string;
  readonly sampleRateHz: SampleRateHz;
  /** Texts that one connection takes at a time. */
  readonly maxTexts: number;
  /** True when the vendor's audio names its text, so that audio of a cancelled text can be told apart. */
  readonly namesAudio: boolean;
  /** A vendor that closes idle connections is told this every so often. */
  readonly keepAlive?: { readonly message: string; readonly intervalMs: number };
  /** Returns the address that speaks a voice. Voices with one address share a connection. */
  target(voice: SpokenVoice): WebSocketTarget;
  open(): SynthesisProtocolConnection;
}

export interface SynthesisProtocolConnection {
  /** The messages that begin a text. @param id - Unique on the connection. */
  begin(id: string, voice: SpokenVoice): readonly string[];
  write(id: string, text: string): readonly string[];
  /** @returns Undefined when nothing is left to be spoken. */
  end(id: string): readonly string[] | undefined;
  cancel(id: string): readonly string[];
  /** Cancelled texts that the vendor still counts as open. Default: none. */
  readonly closing?: number;
  /**
   * @throws {ModelError} When the message reports a failure of the whole connection; any other error means a
   *   malformed message.
   */
  decode(message: Buffer, isBinary: boolean): readonly IdentifiedEvent[];
}

/** An event of one text; an absent id means the oldest text that is open. */
export type IdentifiedEvent = SynthesisEvent & { readonly id?: string | undefined };

/** Decodes a text's little-endian 16-bit samples, whose chunks may split a sample. */
export class L16Decoder {
  readonly #sampleRateHz: number;
  #rest: Uint8Array = new Uint8Array(0);
  #samples = 0;

  constructor(sampleRateHz: number) {
    this.#sampleRateHz = sampleRateHz;
  }

  /** The length of the audio that was decoded so far. */
  get lengthMs(): number {
    return (this.#samples * 1000) / this.#sampleRateHz;
  }

  /** @returns Samples with memory of their own. */
  decode(chunk: Uint8Array): Int16Array {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const samples = readPcm16(new Uint8Array(bytes));
    this.#rest = new Uint8Array(bytes.subarray(samples.length * 2));
    this.#samples += samples.length;
    return samples;
  }
}

/** The speed within what a vendor takes. */
export function clampedSpeed(
  speed: number | undefined,
  slowest: number,
  fastest: number,
): number | undefined {
  return speed === undefined ? undefined : Math.min(fastest, Math.max(slowest, speed));
}

/** Returns true when a text's last sentence is complete, so that the vendor need not wait for more. */
export function endsSentence(text: string): boolean {
  return (
    /[.!?…。！？；]["'”’»」』）)\]]*\s*$/u.test(text) &&
    !/(?:^|[\s(])(?:\p{L}|mrs?|ms|dr|prof|st|vs|e\.g|i\.e)\.\s*$/iu.test(text)
  );
}

/** An error that a vendor reports for a request. @param code - Never a message, which may repeat the words. */
export function reportedError(
  name: string,
  status: number | undefined,
  code: string | undefined,
): ModelError {
  const isRejected =
    status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429;
  const told = [status, code && /^[\w .-]{1,60}$/.test(code) ? code : undefined].filter(
    (part) => part !== undefined,
  );
  return new ModelError(
    isRejected ? 'model_rejected' : 'model_unavailable',
    `${name} ${isRejected ? 'refuses the request' : 'reports an error'}${told.length > 0 ? ` (${told.join(' ')})` : ''}`,
  );
}
