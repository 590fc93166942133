import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type StreamSource, streamWithRetry } from '../../../src/models/failover/streamWithRetry.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const TIMEOUT_MS = 15_000;

const unavailable = (retryAfterSeconds?: number) =>
  new ModelError('model_unavailable', 'away', { retryAfterSeconds });
const rejected = new ModelError('model_rejected', 'refused');

/** A chunk's text, an error, or a wait for the abort; `complete` marks the answer as complete. */
type Step = string | Error | 'hang' | 'complete';

/** A source that plays one list of steps for each attempt. */
function setUp(...attempts: readonly (readonly Step[])[]) {
  const clock = createSimulatedClock();
  const signals: AbortSignal[] = [];
  const retries: string[] = [];
  const recorded: (string | number)[] = [];
  let freed = 0;
  async function* play(steps: readonly Step[], signal: AbortSignal) {
    try {
      for (const step of steps) {
        if (step === 'hang') await hang(signal);
        else if (step instanceof Error) throw step;
        else yield step;
      }
    } finally {
      freed += 1;
    }
  }
  const source: StreamSource<string> = {
    async open(signal) {
      const steps = attempts[signals.length] ?? [];
      signals.push(signal);
      let isComplete = false;
      return {
        chunks: play(steps, signal),
        decode(chunk: string) {
          isComplete ||= chunk === 'complete';
          return isComplete || chunk === '' ? [] : [chunk];
        },
        get isComplete() {
          return isComplete;
        },
        finish: () => ['end'],
      };
    },
    toModelError: (cause, beforeFirstToken) =>
      new ModelError('model_unavailable', 'mapped', { beforeFirstToken, cause }),
  };
  const abort = new AbortController();
  const deps = {
    clock,
    timeoutMs: TIMEOUT_MS,
    onRetry: ({ message }: ModelError) => void retries.push(message),
    metrics: {
      recordError: ({ code }: { code: string }) => void recorded.push(code),
      recordOutput: () => undefined,
      recordFirstOutput: (waitedMs: number) => void recorded.push(waitedMs),
    },
  };
  const stream = () => streamWithRetry(source, deps, abort.signal);
  const leaks = () => [clock.pendingTimers(), getEventListeners(abort.signal, 'abort').length];
  return { clock, signals, retries, recorded, abort, leaks, stream, freed: () => freed };
}

function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });
}

/** Runs everything that does not wait for a timer. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

async function readAll(items: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const failureOf = (items: AsyncIterable<string>) => readAll(items).catch((error: unknown) => error);

describe('Streaming without failures', () => {
  it('yields the items and leaves no timer and no listener', async () => {
    const { recorded, leaks, signals, stream } = setUp(['a', 'b']);
    expect(await readAll(stream())).toEqual(['a', 'b', 'end']);
    expect([signals.length, recorded]).toEqual([1, [0]]);
    expect(leaks()).toEqual([0, 0]);
  });

  it('sends nothing before the first read', async () => {
    const { leaks, signals, stream } = setUp(['a']);
    stream();
    await settle();
    expect([signals.length, ...leaks()]).toEqual([0, 0, 0]);
  });

  it.each<[string, Step[]]>([
    ['does not end', ['a', 'complete', 'hang']],
    ['breaks', ['a', 'complete', new Error('reset')]],
  ])('ends a complete answer whose response %s', async (_, steps) => {
    const { clock, recorded, leaks, stream } = setUp(steps);
    const items = readAll(stream());
    await settle();
    clock.advance(500);
    expect(await items).toEqual(['a', 'end']);
    expect(recorded).toEqual([0]);
    expect(leaks()).toEqual([0, 0]);
  });
});

describe('A failure before the first item', () => {
  it('is retried once, after 200 ms', async () => {
    const { clock, recorded, retries, signals, leaks, stream } = setUp([unavailable()], ['a']);
    const items = readAll(stream());
    await settle();
    clock.advance(199);
    await settle();
    expect(signals).toHaveLength(1);
    clock.advance(1);
    expect(await items).toEqual(['a', 'end']);
    expect([retries, recorded, leaks()]).toEqual([['away'], [200], [0, 0]]);
  });

  it('is thrown the second time', async () => {
    const last = unavailable();
    const { clock, recorded, signals, leaks, stream } = setUp([unavailable()], [last], ['a']);
    const failure = failureOf(stream());
    await settle();
    clock.advance(200);
    expect(await failure).toBe(last);
    expect([signals.length, recorded, leaks()]).toEqual([2, ['model_unavailable'], [0, 0]]);
  });

  it('is retried after the delay that the endpoint asks for, up to 2 s', async () => {
    const { clock, signals, stream } = setUp([unavailable(1.5)], ['a']);
    const items = readAll(stream());
    await settle();
    clock.advance(1499);
    await settle();
    expect(signals).toHaveLength(1);
    clock.advance(1);
    expect(await items).toEqual(['a', 'end']);
  });

  it.each<[string, ModelError]>([
    ['a rejected request', rejected],
    ['an endpoint that asks for a longer delay', unavailable(30)],
  ])('is not retried for %s', async (_, error) => {
    const { signals, leaks, stream } = setUp([error], ['a']);
    await expect(readAll(stream())).rejects.toBe(error);
    expect([signals.length, leaks()]).toEqual([1, [0, 0]]);
  });

  it('is a timeout, in each attempt, although chunks without items arrive', async () => {
    const { clock, signals, leaks, stream } = setUp(['hang'], ['', 'hang']);
    const failure = failureOf(stream());
    await settle();
    clock.advance(TIMEOUT_MS);
    await settle();
    clock.advance(200);
    await settle();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    clock.advance(TIMEOUT_MS);
    expect(await failure).toMatchObject({
      code: 'model_unavailable',
      beforeFirstToken: true,
      message: 'The model did not start to answer within 15 s',
    });
    expect([signals.map(({ aborted }) => aborted), leaks()]).toEqual([
      [true, true],
      [0, 0],
    ]);
  });
});

describe('A failure after the first item', () => {
  it('is not retried, and says that the answer had started', async () => {
    const { retries, signals, stream } = setUp(['a', unavailable()], ['a']);
    const items = stream();
    expect((await items.next()).value).toBe('a');
    await expect(items.next()).rejects.toMatchObject({ message: 'away', beforeFirstToken: false });
    expect([signals.length, retries]).toEqual([1, []]);
  });

  it('is mapped by the source when it is not a ModelError', async () => {
    const { stream } = setUp(['a', new TypeError('terminated')]);
    expect(await failureOf(stream())).toMatchObject({ message: 'mapped', beforeFirstToken: false });
  });

  it('is a timeout of the gap to the next item', async () => {
    const { clock, signals, stream } = setUp(['a', 'hang']);
    const items = stream();
    await items.next();
    clock.advance(TIMEOUT_MS - 1);
    const failure = items.next().catch((error: unknown) => error);
    await settle();
    clock.advance(TIMEOUT_MS - 1);
    await settle();
    expect(signals[0]?.aborted).toBe(false);
    clock.advance(1);
    expect(await failure).toMatchObject({ code: 'model_unavailable', beforeFirstToken: false });
    expect(signals[0]?.aborted).toBe(true);
  });

  it('is not a timeout when the reader pauses between two reads', async () => {
    const { clock, stream } = setUp(['a', 'b']);
    const items = stream();
    await items.next();
    clock.advance(10 * TIMEOUT_MS);
    expect(await readAll(items)).toEqual(['b', 'end']);
  });
});

describe('A reader that stops', () => {
  it('frees the request at once', async () => {
    const { freed, signals, leaks, recorded, stream } = setUp(['a', 'hang']);
    const items = stream();
    await items.next();
    await items.return();
    expect([freed(), signals[0]?.aborted, recorded]).toEqual([1, true, [0]]);
    expect(leaks()).toEqual([0, 0]);
  });
});

describe('An abort', () => {
  const reason = new Error('the caller hung up');

  it.each<[string, readonly (readonly Step[])[]]>([
    ['while the model is silent', [['hang'], ['a']]],
    ['in the delay before the retry', [[unavailable()], ['a']]],
  ])('%s rejects the read with its reason and ends the stream', async (_, attempts) => {
    const { abort, recorded, signals, leaks, stream } = setUp(...attempts);
    const failure = failureOf(stream());
    await settle();
    abort.abort(reason);
    expect(await failure).toBe(reason);
    expect([signals.length, recorded, leaks()]).toEqual([1, [], [0, 0]]);
  });

  it('before the first read sends nothing', async () => {
    const { abort, signals, stream } = setUp(['a']);
    abort.abort(reason);
    await expect(stream().next()).rejects.toBe(reason);
    expect(signals).toHaveLength(0);
  });
});
