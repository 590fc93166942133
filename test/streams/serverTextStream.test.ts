import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';

import { acceptTextStream } from '../../src/streams/acceptStream.ts';
import type { StreamSocket } from '../../src/streams/transport/streamSocket.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const GRANT = { projectId: 'p', sessionId: 's', dialect: 'conversationrelay' } as const;

/** A connection in memory, whose peer may not read or answer. */
class MemorySocket extends EventEmitter implements StreamSocket {
  readonly sent: unknown[] = [];
  readonly closes: unknown[][] = [];
  bufferedAmount = 0;
  readyState = 1;
  isTerminated = false;

  send(message: string | Uint8Array): void {
    this.sent.push(JSON.parse(String(message)));
  }

  close(...given: unknown[]): void {
    this.closes.push(given);
  }

  terminate(): void {
    this.isTerminated = true;
  }

  ping(): void {}

  receive(message: object | string): void {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    this.emit('message', Buffer.from(text), false);
  }
}

async function accepted() {
  const clock = createSimulatedClock();
  const socket = new MemorySocket();
  const accepting = acceptTextStream(socket, GRANT, { clock, onListenerError: () => undefined });
  socket.receive({ type: 'setup', sessionId: 'VX1', customParameters: { name: 'Ada' } });
  const stream = await accepting;
  if (!stream) throw new Error('no stream');
  const events: unknown[] = [];
  for (const name of ['words', 'dtmf', 'closed'] as const)
    stream.events.on(name, (value) => events.push([name, value]));
  await new Promise((resolve) => setImmediate(resolve));
  return { clock, socket, stream, events };
}

describe('A text stream', () => {
  test('has the parameters of its start, and passes messages on', async () => {
    const { socket, stream, events } = await accepted();
    expect(stream.info).toMatchObject({ provider: 'conversationrelay', customParameters: { name: 'Ada' } });
    socket.receive({ type: 'prompt', voicePrompt: 'Hi', lang: 'en-US', last: true });
    socket.receive('garbage');
    expect(events).toEqual([['words', { text: 'Hi', language: 'en-US', isFinal: true }]]);
    expect(stream.malformed).toBe(1);
  });

  test.each([
    ['prompts', { type: 'prompt', voicePrompt: 'Hi', last: true }, 41],
    ['digits', { type: 'dtmf', digit: '1' }, 41],
  ])('ends in a flood of %s', async (_of, message, count) => {
    const { socket, events } = await accepted();
    for (let n = 0; n < count + 10; n++) socket.receive(message);
    expect(socket.closes).toEqual([[1008, 'messages arrive faster than a call has them']]);
    expect(events.at(-1)).toMatchObject(['closed', { code: 1008 }]);
    expect(events.length).toBeLessThanOrEqual(count);
  });

  test('is closed in a flood of other messages, and cut off unless the peer closes', async () => {
    const { clock, socket, stream } = await accepted();
    for (let n = 0; n < 6000; n++) socket.receive('garbage');
    expect(socket.closes).toEqual([[1008, 'messages arrive faster than a call has them']]);
    expect(stream.malformed).toBeLessThan(5000);
    clock.advance(2000);
    expect(socket.isTerminated).toBe(true);
  });

  test('takes the messages of an ordinary call for as long as it lasts', async () => {
    const { clock, socket, events } = await accepted();
    for (let n = 0; n < 100; n++) {
      socket.receive({ type: 'prompt', voicePrompt: 'Hi', last: true });
      clock.advance(1000);
      socket.emit('pong', Buffer.alloc(0));
    }
    expect(events).toHaveLength(100);
  });

  test('ends where the peer does not read', async () => {
    const { socket, stream } = await accepted();
    socket.bufferedAmount = 3 * 1024 * 1024;
    stream.say({ text: 'Hello', isLast: false, language: undefined, interruptible: true });
    expect(socket.sent).toEqual([]);
    expect(socket.closes).toMatchObject([[1013, expect.any(String)]]);
  });

  test('of a peer that has gone is dropped within 90 seconds', async () => {
    const { clock, socket } = await accepted();
    clock.advance(90_000);
    expect(socket.isTerminated).toBe(true);
  });

  test.each([
    [1000, true],
    [1005, true],
    [1006, false],
  ])('that closes with %d has ended its call: %s', async (code, wasStopped) => {
    const { socket, stream, events } = await accepted();
    socket.emit('close', code, Buffer.alloc(0));
    expect(stream.wasStopped).toBe(wasStopped);
    expect(events).toEqual([['closed', { code, reason: '' }]]);
  });

  test('without a start is refused', async () => {
    const clock = createSimulatedClock();
    const socket = new MemorySocket();
    const accepting = acceptTextStream(socket, GRANT, { clock, onListenerError: () => undefined });
    socket.receive({ type: 'prompt', voicePrompt: 'Hi' });
    clock.advance(5000);
    expect(await accepting).toBeUndefined();
    expect(socket.closes).toEqual([[1002, 'no start message was received']]);
  });
});
