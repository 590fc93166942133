import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import { WORD_MS } from './scriptedSpeech.ts';

const RATE_HZ = 24_000;

/** The client's end of a WebSocket in memory. */
export class FakeSocket extends EventEmitter {
  readonly bufferedAmount = 0;
  readonly #onSent: (text: string) => void;

  constructor(onSent: (text: string) => void) {
    super();
    this.#onSent = onSent;
  }

  send(text: string): void {
    // Answers come later than the send.
    setImmediate(() => this.#onSent(text));
  }

  close(): void {}

  terminate(): void {}

  /** The server says this. */
  receive(event: object): void {
    this.emit('message', Buffer.from(JSON.stringify(event)), false);
  }

  asWebSocket(): WebSocket {
    return this as unknown as WebSocket;
  }
}

/** A word of a scripted model, as its base64. */
export function spokenWord(): string {
  const samples = new Int16Array((RATE_HZ * WORD_MS) / 1000).map((_, at) =>
    Math.floor(at / 168) % 2 ? -5000 : 5000,
  );
  return Buffer.from(samples.buffer).toString('base64');
}
