import { createBreakers } from '../../../src/models/failover/circuitBreaker.ts';
import type { CallEngines } from '../../../src/models/selection/callProviders.ts';
import type { Dial } from '../../../src/models/sockets/dial.ts';
import { createLiveSpeech } from '../../../src/vendors/google/liveSpeech.ts';
import { candidate } from '../../models/support/candidate.ts';
import type { SimulatedClock } from '../../support/simulatedClock.ts';
import { FakeSocket, spokenWord } from './fakeVendorSocket.ts';

export interface LiveAnswer {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args?: object }[];
  /** The turn is generated until the client's voice interrupts it. */
  readonly goesOn?: boolean;
}

export interface LiveScript {
  readonly answer: (index: number) => LiveAnswer;
  /** What is heard in each activity. */
  readonly heard?: readonly string[];
}

type ClientMessage = Readonly<Record<string, unknown>>;

/** A server of Gemini's Live API by its published messages, in memory. */
export class ScriptedLive {
  readonly received: ClientMessage[] = [];
  readonly dialed: string[] = [];
  readonly #script: LiveScript;
  #socket: FakeSocket | undefined;
  #answers = 0;
  #activities = 0;
  #isGenerating = false;

  constructor(script: LiveScript) {
    this.#script = script;
  }

  readonly dial: Dial = async ({ url }) => {
    this.dialed.push(url);
    const socket: FakeSocket = new FakeSocket((text) => {
      if (socket === this.#socket) this.#onMessage(JSON.parse(text));
    });
    this.#socket = socket;
    return socket.asWebSocket();
  };

  engines(clock: SimulatedClock): CallEngines {
    const engine = createLiveSpeech({
      baseUrl: 'https://live.example',
      apiKey: 'secret-key',
      model: 'gemini-3.8-live',
      voice: 'Kore',
      clock,
      dial: this.dial,
    });
    return {
      find: async () => candidate(engine),
      breakers: createBreakers(clock),
      close: () => undefined,
    };
  }

  /** Messages without those of audio, each by its one field, or by that of its input. */
  kinds(): string[] {
    return this.received.flatMap((message) => {
      const input = message.realtimeInput as object | undefined;
      const kind = Object.keys(input ?? message)[0] ?? '';
      return kind === 'audio' ? [] : [kind];
    });
  }

  of(kind: string): unknown[] {
    return this.received.flatMap((message) => (kind in message ? [message[kind]] : []));
  }

  send(...messages: readonly object[]): void {
    for (const message of messages) this.#socket?.receive(message);
  }

  close(code = 1006): void {
    this.#socket?.emit('close', code, Buffer.from(''));
  }

  #onMessage(message: ClientMessage): void {
    this.received.push(message);
    const input = (message.realtimeInput ?? {}) as object;
    const content = message.clientContent as { readonly turnComplete: boolean } | undefined;
    if ('setup' in message) this.send({ setupComplete: {} });
    if ('activityStart' in input && this.#isGenerating) this.#interrupt();
    if ('activityEnd' in input) this.#hear();
    if ('activityEnd' in input || content?.turnComplete || 'toolResponse' in message)
      this.#answer(this.#script.answer(this.#answers++));
  }

  #hear(): void {
    const text = this.#script.heard?.[this.#activities++];
    if (text !== undefined) this.send({ serverContent: { inputTranscription: { text } } });
  }

  #interrupt(): void {
    this.#isGenerating = false;
    this.send({ serverContent: { interrupted: true } }, { serverContent: { turnComplete: true } });
  }

  #answer({ text, calls = [], goesOn = false }: LiveAnswer): void {
    for (const word of text?.split(/(?<= )/) ?? []) {
      const inlineData = { mimeType: 'audio/pcm;rate=24000', data: spokenWord() };
      this.send({
        serverContent: { modelTurn: { parts: [{ inlineData }] }, outputTranscription: { text: word } },
      });
    }
    this.#isGenerating = goesOn;
    if (calls.length > 0) {
      const functionCalls = calls.map(({ name, args = {} }, at) => ({
        id: `call-${this.#answers}-${at}`,
        name,
        args,
      }));
      this.send({ toolCall: { functionCalls } });
    } else if (!goesOn) {
      const usageMetadata = { promptTokenCount: 10, responseTokenCount: 5, totalTokenCount: 15 };
      this.send({ usageMetadata, serverContent: { turnComplete: true } });
    }
  }
}
