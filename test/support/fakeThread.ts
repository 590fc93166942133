import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import type { Port } from '../../src/base/threads/remote.ts';

interface Sent {
  readonly id?: number;
  readonly name?: string;
  readonly args?: readonly unknown[];
  readonly kind?: string;
}

/** A worker whose thread a test plays. */
export class FakeThread extends EventEmitter {
  /** Calls and notifications, without pings. */
  readonly received: unknown[][] = [];
  pings = 0;
  isTerminated = false;
  readonly #sent: Sent[] = [];

  get worker(): Worker {
    return this as unknown as Worker;
  }

  postMessage(message: Sent): void {
    this.#sent.push(message);
    if (message.kind === 'ping') this.pings++;
    else this.received.push([message.name, ...(message.args ?? [])]);
    if (message.name === 'end') this.emit('ending');
  }

  async terminate(): Promise<number> {
    this.isTerminated = true;
    this.emit('exit', 1);
    return 1;
  }

  ready(value?: unknown, threadId?: string): void {
    this.emit('message', { kind: 'ready', value, threadId });
  }

  notify(name: string, ...args: unknown[]): void {
    this.emit('message', { name, args });
  }

  /** Answers the first call of a method. */
  answer(name: string, result?: unknown): void {
    const index = this.#sent.findIndex((sent) => sent.name === name && sent.id !== undefined);
    this.emit('message', { id: this.#sent.splice(index, 1)[0]?.id, result });
  }
}

/** Two ports that give each other's messages at once. */
export function portPair(): readonly [Port, Port] {
  const [one, two] = [new EventEmitter(), new EventEmitter()];
  const port = (own: EventEmitter, other: EventEmitter): Port => ({
    postMessage: (message) => void other.emit('message', structuredClone(message)),
    on: (name, listener) => own.on(name, listener),
  });
  return [port(one, two), port(two, one)];
}
