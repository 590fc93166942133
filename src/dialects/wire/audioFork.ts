import { readPcm16, writePcm16 } from '../../media/pcm16.ts';
import { isSampleRate } from '../../media/resample/resampler.ts';
import type {
  AgentReader,
  DialectConnection,
  DialectServer,
  GatewayMessageHandler,
  StreamMessage,
} from '../dialect.ts';
import { digitsOf, type Fields, fieldsOf, nameOf, numberOf, parseJson, textsOf } from './json.ts';

const DEFAULT_RATE_HZ = 8000;
const MARKER = -1;

/**
 * FreeSWITCH's `mod_audio_fork` as our agent's end sees it, with `bidirectionalAudio` streaming: one message of metadata
 * first, then audio both ways as binary little-endian L16.
 *
 * @see https://github.com/jambonz/freeswitch-modules/blob/main/mod_audio_fork/lws_glue.cpp for the messages of both ends
 */
export class AudioForkServer implements DialectServer {
  readonly confirmsClear = false;
  readonly endsByClose = true;
  readonly #connection: DialectConnection;
  /** Whether the module may be started without metadata, so that audio is the first message. */
  readonly #needsMetadata: boolean;
  #isStarted = false;

  constructor(connection: DialectConnection, { needsMetadata }: { readonly needsMetadata: boolean }) {
    this.#connection = connection;
    this.#needsMetadata = needsMetadata;
  }

  readStart(message: StreamMessage) {
    const metadata = parseJson(message);
    if (metadata === undefined && this.#needsMetadata) return undefined;
    const sampleRateHz = numberOf(metadata?.sampleRate) ?? DEFAULT_RATE_HZ;
    if (!isSampleRate(sampleRateHz)) return 'the sampleRate must be 8000, 16000, 24000 or 48000';
    if (metadata?.mixType === 'stereo') return 'the mixType must be mono';
    const { sampleRate: _rate, mixType: _mix, ...own } = metadata ?? {};
    return { sampleRateHz, customParameters: textsOf(own) };
  }

  read(message: StreamMessage, gateway: GatewayMessageHandler): void {
    const isMetadata = !this.#isStarted && typeof message === 'string';
    this.#isStarted = true;
    if (isMetadata) return;
    if (typeof message === 'string') readEvent(parseJson(message), gateway);
    else readAudio(message, gateway);
  }

  play(samples: Int16Array): void {
    this.#connection.send(writePcm16(withoutMarkers(samples)));
  }

  mark(name: string): void {
    this.#send({ type: 'mark', data: { name } });
  }

  /** Stops the playout and drops what was buffered. */
  clear(): void {
    this.#send({ type: 'killAudio' });
  }

  command({ kind }: { readonly kind: string }): void {
    if (kind !== 'hangup') return;
    this.#send({ type: 'disconnect' });
    this.#connection.close('hangup');
  }

  #send(message: object): void {
    this.#connection.send(JSON.stringify(message));
  }
}

/** The module marks places in its buffer by the sample -1, and would take one for a mark that it lacks. */
function withoutMarkers(samples: Int16Array): Int16Array {
  return samples.includes(MARKER) ? samples.map((sample) => (sample === MARKER ? 0 : sample)) : samples;
}

export function readAudio(message: Uint8Array, receiver: AgentReader | GatewayMessageHandler): void {
  if (message.length % Int16Array.BYTES_PER_ELEMENT === 1) receiver.malformed();
  receiver.audio(readPcm16(message));
}

function readEvent(message: Fields | undefined, gateway: GatewayMessageHandler): void {
  if (message?.event === 'dtmf') {
    const digits = digitsOf(message.dtmf);
    if (digits === undefined) gateway.malformed();
    for (const digit of digits ?? '') gateway.dtmf(digit);
    return;
  }
  if (message?.type === 'playDone') return;
  const data = message?.type === 'mark' ? fieldsOf(message.data) : undefined;
  const name = nameOf(data?.name);
  if (name === undefined) gateway.malformed();
  else gateway.mark(name, { outcome: data?.event === 'cleared' ? 'cleared' : 'played' });
}
