import { describe, expect, test } from 'vitest';
import { createBreakers } from '../../../src/models/failover/circuitBreaker.ts';
import { type Candidate, Failover } from '../../../src/models/failover/failover.ts';
import { requestWithFailover, streamWithFailover } from '../../../src/models/failover/streamWithFailover.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const away = (retryable = true) => new ModelError('model_unavailable', 'away', { retryable });
const forever = new AbortController().signal;

/** Candidates by their names, those in capitals skipped since they failed for others. */
function rig(names: string, attempts = 1) {
  const clock = createSimulatedClock();
  const breakers = createBreakers(clock);
  const fallbacks: string[] = [];
  const recorded: string[] = [];
  const candidates = [...names].map((shown): Candidate<string> => {
    const name = shown.toLowerCase();
    if (shown !== name) breakers.failed(name);
    const metrics = {
      recordError: ({ message }: { message: string }) => void recorded.push(`${name} ${message}`),
      recordFirstOutput: (waitedMs: number) => void recorded.push(`${name} after ${waitedMs}`),
      recordOutput: () => undefined,
    };
    return { model: name, name, breaker: name, metrics, attempts };
  });
  const onFallback = (from: { name: string }, to: { name: string }, { message }: ModelError) =>
    void fallbacks.push(`${from.name} ${to.name} ${message.slice(0, 4)}`);
  const onLate = ({ message }: ModelError) => void recorded.push(message);
  const deps = { candidates, clock, breakers, onFallback };
  const create = () => new Failover(candidates, { clock, breakers, onFallback, onLate });
  return { clock, breakers, fallbacks, recorded, candidates, deps, create };
}

describe('A failover', () => {
  test.each([
    ['abc', 'a', []],
    ['Abc', 'b', ['a b It f']],
    ['ABc', 'c', ['a c It f']],
    ['ABC', 'a', []],
  ])('with the candidates %s starts with %s and tells %j', (names, first, told) => {
    const { create, fallbacks } = rig(names);
    const failover = create();
    expect([failover.current.name, fallbacks]).toEqual([first, []]);
    failover.start();
    expect([failover.current.name, fallbacks]).toEqual([first, told]);
  });

  test.each([
    ['abc', ['a', 'b', 'c']],
    ['aBc', ['a', 'c']],
    ['abC', ['a', 'b']],
    ['ABC', ['a', 'b', 'c']],
  ])('with the candidates %s tries %j, and names the one that it goes on with', (names, tried) => {
    const { create, fallbacks } = rig(names);
    const failover = create();
    const seen = [failover.current.name];
    for (let next = failover.fail(away()); next; next = failover.fail(away())) seen.push(next.name);
    expect(seen).toEqual(tried);
    expect(fallbacks).toEqual(tried.slice(1).map((name, index) => `${tried[index]} ${name} away`));
  });

  test('has changed when it tells so', () => {
    const { candidates, clock, breakers } = rig('ab');
    const seen: string[] = [];
    const onFallback = () => void seen.push(failover.current.name);
    const failover = new Failover(candidates, { clock, breakers, onFallback, onLate: () => undefined });
    failover.fail(away());
    expect(seen).toEqual(['b']);
  });

  test('reports a candidate that is late, unless it was stopped', () => {
    const { create, clock, recorded } = rig('a');
    const failover = create();
    failover.expect(100, 'late');
    clock.advance(99);
    failover.stopWaiting();
    clock.advance(1000);
    expect(recorded).toEqual([]);
    failover.expect(4000, 'too late');
    failover.expect(50, 'late');
    clock.advance(50);
    expect(recorded).toEqual(['late']);
    failover.close();
    expect(clock.pendingTimers()).toBe(0);
  });

  test.each([
    ['has failed once the next one succeeds', true, ['a away']],
    ['has not before', false, []],
  ])('A candidate that is suspected %s', (_what, succeeds, expected) => {
    const { create, breakers, recorded, fallbacks } = rig('ab');
    const failover = create();
    failover.suspect(away());
    if (succeeds) failover.succeeded();
    expect([recorded, breakers.isClosed('a'), fallbacks]).toEqual([expected, !succeeds, ['a b away']]);
  });
});

describe('A request', () => {
  /** Asks candidates that answer with their name, are down, or never answer. */
  function ask(call: ReturnType<typeof rig>, down: string, mute = '') {
    const asked: string[] = [];
    const answer = requestWithFailover(
      {
        ...call.deps,
        async ask({ model }, signal) {
          asked.push(model);
          if (down.includes(model)) throw away(false);
          if (mute.includes(model))
            await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
          return model;
        },
        firstOutputMs: (_candidate, hasNext) => (hasNext ? 1500 : undefined),
        late: (timeoutMs) => `late after ${timeoutMs}`,
      },
      forever,
    );
    return { asked, answer };
  }

  test('is answered by the first candidate that can, and the others are skipped for a while', async () => {
    const call = rig('abc');
    expect(await ask(call, 'ab').answer).toBe('c');
    expect(await ask(call, '').answer).toBe('c');
    expect(call.fallbacks).toEqual(['a b away', 'b c away']);
    expect(call.recorded).toEqual(['a away', 'b away', 'c after 0', 'c after 0']);
  });

  test('goes on when a candidate is mute, and waits for the last one', async () => {
    const call = rig('abC');
    const { asked, answer } = ask(call, '', 'a');
    await Promise.resolve();
    call.clock.advance(1500);
    expect(await answer).toBe('b');
    expect([asked, call.recorded[0], call.clock.pendingTimers()]).toEqual([
      ['a', 'b'],
      'a late after 1500',
      0,
    ]);
  });

  test('fails with the last candidate’s error', async () => {
    const call = rig('ab');
    await expect(ask(call, 'ab').answer).rejects.toThrow('away');
    expect(call.fallbacks).toEqual(['a b away']);
  });

  test('is not passed to another candidate once its answer has started', async () => {
    const call = rig('ab', 2);
    const answer = streamWithFailover(
      {
        ...call.deps,
        async *ask({ model }) {
          yield model;
          throw away();
        },
        firstOutputMs: () => undefined,
        late: () => 'late',
      },
      forever,
    );
    expect((await answer.next()).value).toBe('a');
    await expect(answer.next()).rejects.toMatchObject({ beforeFirstToken: false });
    expect([call.fallbacks, call.breakers.isClosed('a')]).toEqual([[], false]);
  });

  test('is asked again of a candidate before the next one', async () => {
    const call = rig('ab', 2);
    let asked = 0;
    const answer = requestWithFailover(
      {
        ...call.deps,
        async ask({ model }) {
          asked += 1;
          if (model === 'a') throw away();
          return model;
        },
        firstOutputMs: () => undefined,
        late: () => 'late',
      },
      forever,
    );
    expect([await answer, asked, call.fallbacks]).toEqual(['b', 3, ['a b away']]);
  });
});
