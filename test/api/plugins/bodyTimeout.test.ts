import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';

import {
  BODY_TIMEOUT_MS,
  MIN_UPLOAD_BYTES_PER_TIMEOUT,
  startBodyTimeout,
} from '../../../src/api/plugins/bodyTimeout.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

/** A request whose progress the test sets. */
function start(headers: Record<string, string> = { 'content-length': '100' }) {
  const clock = createSimulatedClock();
  const request = Object.assign(new EventEmitter(), {
    headers,
    complete: false,
    destroyed: false,
    readableLength: 0,
    readableHighWaterMark: 65_536,
    socket: { bytesRead: 0 },
  });
  let timeouts = 0;
  const timeout = startBodyTimeout(request, clock, () => {
    timeouts += 1;
  });
  return { clock, request, timeout, timeouts: () => timeouts };
}

describe('A request body', () => {
  test.each<Record<string, string>>([{ 'content-length': '5' }, { 'transfer-encoding': 'chunked' }])(
    'with the header %o times out once, after 30 s, at any speed',
    (headers) => {
      const { clock, request, timeouts } = start(headers);
      request.socket.bytesRead = 1e9;
      clock.advance(BODY_TIMEOUT_MS - 1);
      expect(timeouts()).toBe(0);
      clock.advance(1);
      expect(timeouts()).toBe(1);
      clock.advance(BODY_TIMEOUT_MS * 2);
      expect(timeouts()).toBe(1);
    },
  );

  test('that has ended has no timer', () => {
    const { clock, request, timeouts } = start();
    request.complete = true;
    request.emit('close');
    expect(clock.pendingTimers()).toBe(0);
    clock.advance(BODY_TIMEOUT_MS * 2);
    expect(timeouts()).toBe(0);
  });

  test('is complete when only its end is not yet read', () => {
    const { clock, request, timeouts } = start();
    request.complete = true;
    clock.advance(BODY_TIMEOUT_MS);
    expect(timeouts()).toBe(0);
  });

  test('that is not announced has no timer', () => {
    const { clock, timeout } = start({});
    expect(timeout).toBeUndefined();
    expect(clock.pendingTimers()).toBe(0);
  });
});

describe('An upload', () => {
  function startUpload() {
    const started = start();
    started.clock.advance(20_000);
    started.timeout?.allowUpload();
    return started;
  }

  test('continues while each 30 s bring enough bytes', () => {
    const { clock, request, timeouts } = startUpload();
    for (let span = 0; span < 20; span += 1) {
      request.socket.bytesRead += MIN_UPLOAD_BYTES_PER_TIMEOUT;
      clock.advance(BODY_TIMEOUT_MS);
    }
    expect(timeouts()).toBe(0);
    request.socket.bytesRead += MIN_UPLOAD_BYTES_PER_TIMEOUT - 1;
    clock.advance(BODY_TIMEOUT_MS);
    expect(timeouts()).toBe(1);
  });

  test('continues while the server itself does not read', () => {
    const { clock, request, timeouts } = startUpload();
    request.readableLength = request.readableHighWaterMark;
    clock.advance(BODY_TIMEOUT_MS * 5);
    expect(timeouts()).toBe(0);
    request.readableLength = 0;
    clock.advance(BODY_TIMEOUT_MS);
    expect(timeouts()).toBe(1);
  });

  test('that is complete has no timer', () => {
    const { clock, request, timeout } = start();
    request.complete = true;
    timeout?.allowUpload();
    expect(clock.pendingTimers()).toBe(0);
  });
});
