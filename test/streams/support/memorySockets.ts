import { EventEmitter } from 'node:events';

import type { StreamMessage } from '../../../src/dialects/dialect.ts';
import {
  CLOSE_WITHOUT_CODE,
  CLOSING,
  OPEN,
  type StreamSocket,
} from '../../../src/streams/transport/streamSocket.ts';
import type { SimulatedClock } from '../../support/simulatedClock.ts';

const CLOSED = 3;
const ABNORMAL = 1006;

/** One end of a connection in memory. Messages arrive with the next turn of the event loop. */
export class MemorySocket extends EventEmitter implements StreamSocket {
  bufferedAmount = 0;
  readyState = OPEN;
  /** Leaves a close of the peer unanswered. */
  isDeaf = false;
  /** The peer's machine has gone: it answers no ping. */
  isHalfOpen = false;
  peer: MemorySocket | undefined;

  send(data: StreamMessage): void {
    const isBinary = typeof data !== 'string';
    const copy = isBinary ? Buffer.from(data) : Buffer.from(data, 'utf8');
    const { peer } = this;
    setImmediate(() => peer?.readyState !== CLOSED && peer?.emit('message', copy, isBinary));
  }

  close(code = CLOSE_WITHOUT_CODE, reason = ''): void {
    if (this.readyState !== OPEN) return;
    this.readyState = CLOSING;
    const { peer } = this;
    setImmediate(() => {
      if (!peer || peer.isDeaf) return;
      peer.end(code, reason);
      this.end(code, reason);
    });
  }

  terminate(): void {
    this.end(ABNORMAL, '');
    this.peer?.end(ABNORMAL, '');
  }

  ping(data = ''): void {
    if (!this.isHalfOpen) setImmediate(() => this.emit('pong', Buffer.from(data)));
  }

  end(code: number, reason: string): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.emit('close', code, Buffer.from(reason));
  }
}

/** Both ends of a connection. */
export function memorySockets(): readonly [MemorySocket, MemorySocket] {
  const one = new MemorySocket();
  const other = new MemorySocket();
  one.peer = other;
  other.peer = one;
  return [one, other];
}

/** Advances time in frames until the promise has settled. */
export async function drive<Result>(
  clock: SimulatedClock,
  running: Promise<Result>,
  onFrame: () => void = () => undefined,
): Promise<Result> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  running.then(settle, settle);
  while (!isSettled) {
    clock.advance(20);
    onFrame();
    for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve));
  }
  return await running;
}
