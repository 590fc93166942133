import { describe, expect, test } from 'vitest';

import {
  BODY_TIMEOUT_MS,
  createBodyWatch,
  LEAST_BYTES_PER_SPAN,
  type WatchedRequest,
} from '../../../src/api/plugins/bodyTimeouts.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

/** A request that the test lets come in. */
function requestOf(headers: WatchedRequest['headers'] = { 'content-length': '100' }) {
  return {
    headers,
    complete: false,
    destroyed: false,
    readableLength: 0,
    readableHighWaterMark: 65_536,
    socket: { bytesRead: 0 },
  };
}
type TestRequest = ReturnType<typeof requestOf>;

function world() {
  const clock = createSimulatedClock();
  const givenUp: TestRequest[] = [];
  const watch = createBodyWatch<TestRequest>(clock, (request) => givenUp.push(request));
  return { clock, watch, givenUp };
}

describe('a body', () => {
  test.each([{ 'content-length': '5' }, { 'transfer-encoding': 'chunked' }])(
    'announced by %o has half a minute, however fast it comes',
    (headers) => {
      const { clock, watch, givenUp } = world();
      const request = requestOf(headers);
      watch.begin(request);
      clock.advance(BODY_TIMEOUT_MS - 1);
      request.socket.bytesRead = 1e9;
      expect(givenUp).toEqual([]);
      clock.advance(1_001);
      expect(givenUp).toEqual([request]);
      clock.advance(BODY_TIMEOUT_MS * 2);
      expect(givenUp).toHaveLength(1);
    },
  );

  test.each(['complete', 'destroyed'] as const)('that is %s is watched no more', (state) => {
    const { clock, watch, givenUp } = world();
    const request = requestOf();
    watch.begin(request);
    request[state] = true;
    clock.advance(BODY_TIMEOUT_MS * 2);
    expect(givenUp).toEqual([]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('that is not announced is not waited for, and many need one timer', () => {
    const { clock, watch } = world();
    watch.begin(requestOf({}));
    expect(clock.pendingTimers()).toBe(0);
    for (let count = 0; count < 10; count += 1) watch.begin(requestOf());
    expect(clock.pendingTimers()).toBe(1);
    watch.close();
    watch.close();
    expect(clock.pendingTimers()).toBe(0);
  });
});

describe('requests that follow each other on one connection', () => {
  test('are watched each, the last as well as one that was looked at', () => {
    const { clock, watch, givenUp } = world();
    const first = requestOf();
    const second = { ...requestOf(), socket: first.socket };
    watch.begin(first);
    first.complete = true;
    watch.begin(second);
    clock.advance(BODY_TIMEOUT_MS + 1_000);
    expect(givenUp).toEqual([second]);
  });

  test('on others are watched beside them', () => {
    const { clock, watch, givenUp } = world();
    const requests = [requestOf(), requestOf(), requestOf()];
    for (const request of requests) watch.begin(request);
    clock.advance(BODY_TIMEOUT_MS + 1_000);
    expect(givenUp).toEqual(requests);
  });
});

describe('a body that may take long', () => {
  function long(headers?: WatchedRequest['headers']) {
    const all = world();
    const request = requestOf(headers);
    all.watch.begin(request);
    all.clock.advance(20_000);
    all.watch.allowLong(request);
    return { ...all, request };
  }

  test('has as long as enough of it comes in each half minute', () => {
    const { clock, givenUp, request } = long();
    for (let span = 0; span < 20; span += 1) {
      request.socket.bytesRead += LEAST_BYTES_PER_SPAN;
      clock.advance(BODY_TIMEOUT_MS + 1_000);
    }
    expect(givenUp).toEqual([]);
    request.socket.bytesRead += LEAST_BYTES_PER_SPAN - 1;
    clock.advance(BODY_TIMEOUT_MS + 1_000);
    expect(givenUp).toEqual([request]);
  });

  test('is given up when it stands still', () => {
    const { clock, givenUp, request } = long();
    clock.advance(BODY_TIMEOUT_MS + 1_000);
    expect(givenUp).toEqual([request]);
  });

  test('is not blamed while what came is still to be read', () => {
    const { clock, givenUp, request } = long();
    request.readableLength = request.readableHighWaterMark;
    clock.advance(BODY_TIMEOUT_MS * 5);
    expect(givenUp).toEqual([]);
    request.readableLength = 0;
    clock.advance(BODY_TIMEOUT_MS + 1_000);
    expect(givenUp).toEqual([request]);
  });

  test('that has come already is not watched anew', () => {
    const { clock, watch } = world();
    watch.allowLong(requestOf());
    expect(clock.pendingTimers()).toBe(0);
    clock.advance(BODY_TIMEOUT_MS * 2);
  });
});
