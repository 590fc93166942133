import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { ChatEvent, ChatModel, ChatRequest } from '../../src/providers/ports/chatModel.ts';
import { ModelError } from '../../src/providers/ports/modelError.ts';
import { createResilientModel } from '../../src/providers/resilient.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const TIMEOUT_MS = 15_000;
const REQUEST: ChatRequest = { model: 'm', messages: [] };
const hello: ChatEvent = { type: 'text', text: 'Hello' };
const end: ChatEvent = { type: 'end', finishReason: 'stop', model: 'm' };

const away = (retryAfterSeconds?: number) =>
  new ModelError('model_unavailable', 'away', { beforeFirstToken: true, retryAfterSeconds });
const refused = new ModelError('model_rejected', 'refused', { beforeFirstToken: true });

/** What a model does at one step: gives an event, throws, or waits until it is aborted. */
type Act = ChatEvent | Error | 'hang';

/** A model that plays one list of acts for each attempt, and counts what it is asked and what is left of it. */
function setUp(...attempts: readonly (readonly Act[])[]) {
  const clock = createSimulatedClock();
  const signals: AbortSignal[] = [];
  const retries: ModelError[] = [];
  let freed = 0;
  const inner: ChatModel = {
    name: 'inner',
    async *stream(_, signal) {
      signal.throwIfAborted();
      const acts = attempts[signals.length] ?? [];
      signals.push(signal);
      try {
        for (const act of acts) {
          if (act === 'hang') await hang(signal);
          else if (act instanceof Error) throw act;
          else yield act;
        }
      } finally {
        freed++;
      }
    },
  };
  const deps = { clock, timeoutMs: TIMEOUT_MS, onRetry: (error: ModelError) => retries.push(error) };
  const leaving = new AbortController();
  const listeners = () => getEventListeners(leaving.signal, 'abort').length;
  const stream = () =>
    createResilientModel(inner, deps).stream(REQUEST, leaving.signal)[Symbol.asyncIterator]();
  const hasLeft = () => signals.every(({ aborted }) => aborted);
  return { clock, signals, retries, leaving, listeners, stream, hasLeft, freed: () => freed };
}

function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });
}

/** Lets everything happen that waits for no timer. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

async function readAll(events: AsyncIterator<ChatEvent>): Promise<ChatEvent[]> {
  const all: ChatEvent[] = [];
  for (let next = await events.next(); !next.done; next = await events.next()) all.push(next.value);
  return all;
}

describe('an answer without trouble', () => {
  it('passes through, and leaves no timer and no listener', async () => {
    const { clock, listeners, signals, stream } = setUp([hello, end]);
    expect(await readAll(stream())).toEqual([hello, end]);
    expect(signals).toHaveLength(1);
    expect([clock.pendingTimers(), listeners()]).toEqual([0, 0]);
  });

  it('asks for nothing before it is read', async () => {
    const { clock, listeners, signals, stream } = setUp([hello, end]);
    stream();
    await settle();
    expect([signals.length, clock.pendingTimers(), listeners()]).toEqual([0, 0, 0]);
  });
});

describe('a failure before the first event', () => {
  it('is tried once more, after a short rest', async () => {
    const { clock, retries, signals, stream } = setUp([away()], [hello, end]);
    const answer = readAll(stream());
    await settle();
    expect(signals).toHaveLength(1);
    clock.advance(200);
    expect(await answer).toEqual([hello, end]);
    expect(retries).toHaveLength(1);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('is final the second time', async () => {
    const last = away();
    const { clock, listeners, signals, stream } = setUp([away()], [last], [hello, end]);
    const failure = readAll(stream()).catch((error: unknown) => error);
    await settle();
    clock.advance(200);
    expect(await failure).toBe(last);
    expect(signals).toHaveLength(2);
    expect([clock.pendingTimers(), listeners()]).toEqual([0, 0]);
  });

  it('waits for as long as the endpoint wants, within reason', async () => {
    const { clock, signals, stream } = setUp([away(1.5)], [hello, end]);
    const answer = readAll(stream());
    await settle();
    clock.advance(1499);
    await settle();
    expect(signals).toHaveLength(1);
    clock.advance(1);
    expect(await answer).toEqual([hello, end]);
  });

  it.each<[string, Error]>([
    ['that no repetition mends', refused],
    ['whose endpoint wants a long rest', away(30)],
    ['that is no failure of a model', new TypeError('a bug')],
  ])('%s is final at once', async (_, error) => {
    const { clock, listeners, signals, stream } = setUp([error], [hello, end]);
    await expect(readAll(stream())).rejects.toBe(error);
    expect(signals).toHaveLength(1);
    expect([clock.pendingTimers(), listeners()]).toEqual([0, 0]);
  });

  it('comes of silence too: each attempt has the whole time', async () => {
    const { clock, signals, stream } = setUp(['hang'], ['hang']);
    const failure = readAll(stream()).catch((error: unknown) => error);
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
      message: 'The model did not begin to answer within 15 s',
    });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(clock.pendingTimers()).toBe(0);
  });
});

describe('a failure after the first event', () => {
  it('is never tried again', async () => {
    const { retries, signals, stream } = setUp([hello, away()], [hello, end]);
    const events = stream();
    expect((await events.next()).value).toEqual(hello);
    await expect(events.next()).rejects.toThrow('away');
    expect([signals.length, retries.length]).toEqual([1, 0]);
  });

  it('comes of a gap that is too long', async () => {
    const { clock, hasLeft, stream } = setUp([hello, 'hang']);
    const events = stream();
    await events.next();
    const failure = events.next().catch((error: unknown) => error);
    await settle();
    clock.advance(TIMEOUT_MS - 1);
    await settle();
    expect(hasLeft()).toBe(false);
    clock.advance(1);
    expect(await failure).toMatchObject({ code: 'model_unavailable', beforeFirstToken: false });
    expect(hasLeft()).toBe(true);
  });

  it('does not come of a reader that takes its time', async () => {
    const { clock, stream } = setUp([hello, hello, end]);
    const events = stream();
    await events.next();
    clock.advance(10 * TIMEOUT_MS);
    expect(await readAll(events)).toEqual([hello, end]);
  });

  it('counts each gap from its own beginning', async () => {
    const { clock, stream } = setUp([hello, 'hang']);
    const events = stream();
    await events.next();
    clock.advance(TIMEOUT_MS - 1);
    let failed = false;
    const failure = events.next().catch(() => {
      failed = true;
    });
    await settle();
    clock.advance(TIMEOUT_MS - 1);
    await settle();
    expect(failed).toBe(false);
    clock.advance(1);
    await failure;
    expect(failed).toBe(true);
  });

  it('comes of a model that ends without an end', async () => {
    const { stream } = setUp([hello]);
    await expect(readAll(stream())).rejects.toMatchObject({
      code: 'model_malformed',
      beforeFirstToken: false,
    });
  });
});

describe('leaving', () => {
  it('between two reads frees the request at once', async () => {
    const { clock, freed, hasLeft, listeners, stream } = setUp([hello, 'hang']);
    const events = stream();
    await events.next();
    await events.return?.();
    expect([freed(), hasLeft()]).toEqual([1, true]);
    expect([clock.pendingTimers(), listeners()]).toEqual([0, 0]);
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  it('while a read is pending ends that read, without a failure and without another attempt', async () => {
    const { clock, freed, hasLeft, listeners, signals, stream } = setUp(['hang'], [hello, end]);
    const events = stream();
    const pending = events.next();
    await settle();
    await events.return?.();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect([freed(), hasLeft(), signals.length]).toEqual([1, true, 1]);
    expect([clock.pendingTimers(), listeners()]).toEqual([0, 0]);
  });

  it('during the rest before another attempt makes none', async () => {
    const { clock, listeners, signals, stream } = setUp([away()], [hello, end]);
    const events = stream();
    const pending = events.next();
    await settle();
    await events.return?.();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect([signals.length, clock.pendingTimers(), listeners()]).toEqual([1, 0, 0]);
  });

  it('before the first read asks for nothing', async () => {
    const { signals, stream } = setUp([hello, end]);
    const events = stream();
    await events.return?.();
    expect((await events.next()).done).toBe(true);
    expect(signals).toHaveLength(0);
  });
});

describe('an abort', () => {
  const reason = new Error('the caller hung up');

  it.each<[string, readonly (readonly Act[])[]]>([
    ['while the model is silent', [['hang'], [hello, end]]],
    ['during the rest before another attempt', [[away()], [hello, end]]],
  ])('%s rejects the read with its reason, and nothing is tried again', async (_, attempts) => {
    const { clock, leaving, listeners, signals, stream } = setUp(...attempts);
    const failure = stream()
      .next()
      .catch((error: unknown) => error);
    await settle();
    leaving.abort(reason);
    expect(await failure).toBe(reason);
    expect(signals).toHaveLength(1);
    expect(clock.pendingTimers()).toBe(0);
    expect(listeners()).toBe(0);
  });

  it('before the first read asks for nothing', async () => {
    const { leaving, signals, stream } = setUp([hello, end]);
    leaving.abort(reason);
    await expect(stream().next()).rejects.toBe(reason);
    expect(signals).toHaveLength(0);
  });

  it('leaves a model that does not stop writing', async () => {
    const piece: ChatEvent = { type: 'text', text: 'and so on '.repeat(10_000) };
    const { stream, hasLeft, retries } = setUp(Array(20).fill(piece));
    const answer = stream();
    let pieces = 0;
    const read = async () => {
      for (;;)
        if ((await answer.next()).done) return;
        else pieces += 1;
    };
    await expect(read()).rejects.toMatchObject({ code: 'model_malformed' });
    expect([pieces, hasLeft(), retries]).toEqual([10, true, []]);
  });
});
