import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';

import { startHeartbeat } from '../../../src/streams/transport/heartbeat.ts';
import { OPEN, type StreamSocket } from '../../../src/streams/transport/streamSocket.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

function startOn() {
  const clock = createSimulatedClock();
  const calls: string[] = [];
  const events = new EventEmitter();
  const socket: StreamSocket = {
    on: (event: string, listener: (...values: never[]) => void) => events.on(event, listener as () => void),
    send: () => {},
    close: () => {},
    terminate: () => calls.push('terminate'),
    ping: () => calls.push('ping'),
    bufferedAmount: 0,
    readyState: OPEN,
  };
  startHeartbeat(socket, clock, true);
  return { clock, calls, events };
}

test.each(['pong', 'message'])('Heartbeat pings a peer that answers with a %s for ever', (event) => {
  const { clock, calls, events } = startOn();
  for (let second = 0; second < 60; second++) {
    clock.advance(1000);
    events.emit(event);
  }
  expect(calls).toEqual(new Array(60).fill('ping'));
});

test('Heartbeat terminates the connection once, after five unanswered pings', () => {
  const { clock, calls, events } = startOn();
  clock.advance(1000);
  events.emit('pong');
  for (let second = 0; second < 20; second++) clock.advance(1000);
  expect(calls).toEqual([...new Array(6).fill('ping'), 'terminate']);
});

test('Heartbeat of a suspended process counts one interval, however late its timer is', () => {
  const { clock, calls, events } = startOn();
  clock.advance(1000);
  clock.advance(1000);
  events.emit('pong');
  clock.advance(1000);
  expect(calls).not.toContain('terminate');
});

test('Heartbeat ends with the connection', () => {
  const { clock, calls, events } = startOn();
  events.emit('close');
  clock.advance(60_000);
  expect(calls).toEqual([]);
  expect(clock.pendingTimers()).toBe(0);
});
