import { systemClock } from '../../../src/base/values/clock.ts';
import { createBreakers } from '../../../src/models/failover/circuitBreaker.ts';
import type { CallEngines } from '../../../src/models/selection/callProviders.ts';
import type { Dial } from '../../../src/models/sockets/dial.ts';
import { createRealtimeSpeech } from '../../../src/vendors/openai/realtime/speechToSpeech.ts';
import { candidate } from '../../models/support/candidate.ts';
import { FakeSocket, spokenWord } from './fakeVendorSocket.ts';

const RATE_HZ = 24_000;

/** What the server answers to one `response.create`. */
export interface RealtimeAnswer {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments?: unknown }[];
  /** The calls are told with the whole response alone. */
  readonly callsAtEnd?: boolean;
  /** Of the call only the beginning comes. */
  readonly isWriting?: boolean;
  /** Nothing comes at all. */
  readonly isSilent?: boolean;
  /** The connection breaks after the words. */
  readonly breaks?: boolean;
}

export interface RealtimeScript {
  readonly answer: (index: number) => RealtimeAnswer;
  /** What is heard in each commit, in order; undefined where the transcript never comes. */
  readonly heard?: readonly (string | undefined)[];
  /** The server commits what it hears by itself, whatever it was told. */
  readonly detectsTurns?: boolean;
  /** The handshake is refused. */
  readonly refuse?: Error;
  /** The handshake is never answered. */
  readonly hangs?: boolean;
}

type ClientEvent = { readonly type: string; readonly [field: string]: unknown };

/** A server of OpenAI's Realtime API by its published events, in memory. */
export class ScriptedRealtime {
  readonly received: ClientEvent[] = [];
  /** Addresses and headers of the connections. */
  readonly dialed: Parameters<Dial>[0][] = [];
  readonly #script: RealtimeScript;
  #socket: FakeSocket | undefined;
  #answers = 0;
  #commits = 0;

  constructor(script: RealtimeScript) {
    this.#script = script;
  }

  readonly dial: Dial = async (target, signal) => {
    this.dialed.push(target);
    if (this.#script.refuse) throw this.#script.refuse;
    if (this.#script.hangs)
      return await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    this.#socket = new FakeSocket((text) => this.#onMessage(JSON.parse(text)));
    return this.#socket.asWebSocket();
  };

  /** The only engine of a call, whatever is named. */
  engines(): CallEngines {
    const engine = createRealtimeSpeech({
      clock: systemClock,
      name: 'openai-realtime',
      baseUrl: 'https://realtime.example/v1',
      apiKey: 'secret-key',
      model: 'gpt-realtime',
      transcriptionModel: 'gpt-4o-mini-transcribe',
      voice: 'marin',
      dial: this.dial,
    });
    return {
      find: async () => candidate(engine),
      breakers: createBreakers(systemClock),
      close: () => undefined,
    };
  }

  types(): string[] {
    const types = this.received
      .map(({ type }) => type)
      .filter((type) => type !== 'input_audio_buffer.append');
    return types;
  }

  of(type: string): ClientEvent[] {
    return this.received.filter((event) => event.type === type);
  }

  /** Milliseconds of audio that were appended. */
  appendedMs(): number {
    const bytes = this.of('input_audio_buffer.append').map(({ audio }) =>
      Buffer.from(String(audio), 'base64'),
    );
    return (bytes.reduce((sum, { length }) => sum + length / 2, 0) * 1000) / RATE_HZ;
  }

  send(...events: readonly object[]): void {
    for (const event of events) this.#socket?.receive(event);
  }

  /** The server has detected the end of a turn. */
  answerUnasked(heard: string, text: string): void {
    const item_id = 'heard-unasked';
    this.send(
      { type: 'input_audio_buffer.committed', item_id },
      { type: 'conversation.item.input_audio_transcription.completed', item_id, transcript: heard },
    );
    this.#answers += 1;
    this.#answer({ text });
  }

  close(code = 1006): void {
    this.#socket?.emit('close', code, Buffer.from(''));
  }

  #onMessage(event: ClientEvent): void {
    this.received.push(event);
    if (event.type === 'input_audio_buffer.commit') this.#hear();
    if (event.type === 'response.create') this.#answer(this.#script.answer(this.#answers++));
  }

  #hear(): void {
    if (this.#script.detectsTurns) {
      const code = 'input_audio_buffer_commit_empty';
      this.send({
        type: 'error',
        error: { type: 'invalid_request_error', code, message: 'buffer too small' },
      });
      return;
    }
    const item_id = `heard-${this.#commits}`;
    const transcript = this.#script.heard?.[this.#commits++];
    this.send({ type: 'input_audio_buffer.committed', item_id });
    if (transcript === undefined) return;
    const type = 'conversation.item.input_audio_transcription';
    this.send(
      { type: `${type}.delta`, item_id, delta: transcript },
      { type: `${type}.completed`, item_id, transcript },
    );
  }

  #answer({ text, calls = [], callsAtEnd, isWriting, isSilent, breaks }: RealtimeAnswer): void {
    if (isSilent) return;
    const response_id = `response-${this.#answers}`;
    const item_id = `said-${this.#answers}`;
    const at = { response_id, item_id, output_index: 0, content_index: 0 };
    this.send({ type: 'response.created', response: { id: response_id, status: 'in_progress' } });
    if (isWriting) {
      this.send({ type: 'response.function_call_arguments.delta', response_id, item_id, delta: '{' });
      return;
    }
    for (const word of text?.split(/(?<= )/) ?? [])
      this.send(
        { ...at, type: 'response.output_audio_transcript.delta', delta: word },
        { ...at, type: 'response.output_audio.delta', delta: spokenWord() },
      );
    if (breaks) {
      this.close();
      return;
    }
    const output = calls.map(({ name, arguments: given = {} }, index) => ({
      type: 'function_call',
      call_id: `call-${this.#answers}-${index}`,
      name,
      arguments: JSON.stringify(given),
    }));
    if (!callsAtEnd)
      for (const item of output) this.send({ type: 'response.output_item.done', response_id, item });
    const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
    this.send({ type: 'response.done', response: { id: response_id, status: 'completed', usage, output } });
  }
}
