import { describe, expect, test } from 'vitest';
import { createBreakers } from '../../../src/models/failover/circuitBreaker.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import type {
  RecognitionEvent,
  StreamingSpeechToText,
} from '../../../src/models/ports/streamingSpeechToText.ts';
import { createRecognizerChain } from '../../../src/models/recognition/recognizerChain.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const FRAME = 160;

/** A vendor whose connections the test answers for. */
function fakeVendor(name: string, maxAgeMs?: number) {
  const connections: { emit: (event: RecognitionEvent) => void; heard: number[]; isClosed: boolean }[] = [];
  const vendor: StreamingSpeechToText = {
    name,
    detectsTurns: false,
    ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
    connect(_options, emit) {
      const connection = { emit, heard: [] as number[], isClosed: false };
      connections.push(connection);
      return {
        push: (samples) => void connection.heard.push(samples[0] ?? 0),
        finalize: () => true,
        close() {
          connection.isClosed = true;
        },
      };
    },
    close: async () => undefined,
  };
  return { vendor, connections };
}

function rig(...names: string[]) {
  return rigOf(names.map((name) => fakeVendor(name)));
}

function rigOf(vendors: readonly ReturnType<typeof fakeVendor>[]) {
  const clock = createSimulatedClock();
  const breakers = createBreakers(clock);
  const fallbacks: string[] = [];
  const recorded: string[] = [];
  const events: RecognitionEvent[] = [];
  const chain = createRecognizerChain(
    vendors.map(({ vendor }) => ({
      model: vendor,
      name: vendor.name,
      breaker: vendor.name,
      metrics: {
        recordError: ({ message }) => void recorded.push(`${vendor.name} ${message}`),
        recordFirstOutput: () => undefined,
        recordOutput: () => void recorded.push(`${vendor.name} tells words`),
      },
    })),
    { clock, breakers, onFallback: (from, to) => void fallbacks.push(`${from.name} ${to.name}`) },
  );
  const open = () => chain.connect({ sampleRateHz: 8000 }, (event) => void events.push(event));
  const connection = open();
  let pushed = 0;
  const push = (frames: number) => {
    for (let n = 0; n < frames; n++) connection.push(new Int16Array(FRAME).fill(++pushed));
  };
  const at = (vendor: number, index = 0) => {
    const found = vendors[vendor]?.connections[index];
    if (!found) throw new Error(`vendor ${vendor} has no connection ${index}`);
    return found;
  };
  return { chain, clock, vendors, fallbacks, recorded, events, connection, open, push, at, breakers };
}

const failed = (retryable: boolean): RecognitionEvent => ({
  type: 'failed',
  error: new ModelError(retryable ? 'model_unavailable' : 'model_rejected', 'gone', { retryable }),
});
const final = (text: string, endMs: number): RecognitionEvent => ({
  type: 'final',
  transcript: { text, words: [{ word: text, startMs: endMs - 100, endMs }] },
});

describe('A chain of recognizers', () => {
  test('has the name and the abilities of the vendor that hears the caller', () => {
    const { vendor: second, connections } = fakeVendor('b');
    const { chain, at } = rigOf([
      fakeVendor('a'),
      { vendor: { ...second, detectsTurns: true }, connections },
    ]);
    expect([chain.name, chain.detectsTurns]).toEqual(['a', false]);
    at(0).emit(failed(false));
    expect([chain.name, chain.detectsTurns]).toEqual(['b', true]);
  });

  test('connects again to a vendor whose connection lasted, and sends what no final word covers', () => {
    const { clock, fallbacks, push, at, events } = rig('a', 'b');
    at(0).emit({ type: 'connected' });
    push(50);
    at(0).emit(final('hello', 900));
    clock.advance(6000);
    push(10);
    at(0).emit(failed(true));
    expect(fallbacks).toEqual(['a a']);
    const { heard } = at(0, 1);
    expect(heard.at(-1)).toBe(60);
    expect(heard[0]).toBeLessThanOrEqual(51);
    expect(heard.length).toBeLessThan(30);
    at(0, 1).emit({ type: 'connected' });
    at(0, 1).emit(final('world', 200));
    const { transcript } = events.at(-1) as Extract<RecognitionEvent, { type: 'final' }>;
    // Counted from the call's first sample.
    expect(transcript.words?.[0]?.endMs).toBe(((heard[0] ?? 0) - 1) * 20 + 200);
  });

  test('leaves a vendor that refuses, or does not connect within 1.5 s', () => {
    const { clock, fallbacks, push, at, events } = rig('a', 'b', 'c');
    push(5);
    at(0).emit(failed(false));
    expect(at(1).heard).toEqual([1, 2, 3, 4, 5]);
    clock.advance(1499);
    expect(fallbacks).toEqual(['a b']);
    clock.advance(1);
    expect(fallbacks).toEqual(['a b', 'b c']);
    expect(at(1).isClosed).toBe(true);
    at(1).emit(final('late', 100));
    expect(events.map(({ type }) => type)).toEqual(['reconnecting', 'reconnecting']);
  });

  test('leaves a vendor that does not answer a request for words within 1.5 s', () => {
    const { clock, fallbacks, connection, at } = rig('a', 'b');
    at(0).emit({ type: 'connected' });
    connection.finalize();
    clock.advance(1500);
    expect(fallbacks).toEqual(['a b']);
  });

  test('records each failure, and that a vendor works once it has told words', () => {
    const { clock, at, recorded } = rig('a');
    at(0).emit({ type: 'connected' });
    at(0).emit(failed(false));
    clock.advance(500);
    at(0, 1).emit({ type: 'connected' });
    expect(recorded).toEqual(['a gone']);
    at(0, 1).emit(final('hello', 100));
    at(0, 1).emit(final('world', 200));
    clock.advance(6000);
    at(0, 1).emit(failed(true));
    expect(recorded).toEqual(['a gone', 'a tells words', 'a gone']);
  });

  test('skips a vendor that just failed on another call', () => {
    const { vendors, open, at, fallbacks } = rig('a', 'b');
    at(0).emit(failed(false));
    expect(fallbacks.splice(0)).toHaveLength(1);
    open();
    expect(vendors[0]?.connections).toHaveLength(1);
    expect(vendors[1]?.connections).toHaveLength(2);
    expect(fallbacks).toEqual(['a b']);
  });

  test('tells two entries of one vendor apart, whose keys differ', () => {
    const [refused, accepted] = [fakeVendor('a'), fakeVendor('a')];
    const clock = createSimulatedClock();
    const breakers = createBreakers(clock);
    const chain = createRecognizerChain(
      [
        { model: refused.vendor, name: 'a', breaker: 'old key' },
        { model: accepted.vendor, name: 'a', breaker: 'new key' },
      ],
      { clock, breakers, onFallback: () => undefined },
    );
    const open = () => chain.connect({ sampleRateHz: 8000 }, () => undefined);
    open();
    refused.connections[0]?.emit(failed(false));
    open();
    expect([refused.connections.length, accepted.connections.length]).toEqual([1, 2]);
    expect([breakers.isClosed('old key'), breakers.isClosed('new key')]).toEqual([false, true]);
  });

  test('reports a failure when no vendor is left, and tries again', () => {
    const { clock, vendors, events, at, push } = rig('a');
    at(0).emit(failed(true));
    expect(events.map(({ type }) => type)).toEqual(['failed']);
    push(3);
    clock.advance(500);
    expect(vendors[0]?.connections).toHaveLength(2);
    at(0, 1).emit({ type: 'connected' });
    expect(at(0, 1).heard).toEqual([1, 2, 3]);
    expect(events.at(-1)).toEqual({ type: 'connected' });
  });

  test('is silent once it is closed', () => {
    const { clock, connection, events, at, vendors } = rig('a');
    connection.close();
    at(0).emit(failed(true));
    clock.advance(60_000);
    expect(events).toEqual([]);
    expect(vendors[0]?.connections).toHaveLength(1);
    expect(clock.pendingTimers()).toBe(0);
  });
});

describe('A vendor that told no word of what was said', () => {
  const DEAF = new ModelError('model_unavailable', 'told no word');

  test('is left for the next one, which hears the utterance alone', () => {
    const { connection, push, at, fallbacks, events } = rig('a', 'b');
    at(0).emit({ type: 'connected' });
    push(500);
    expect(connection.leave?.(DEAF, 1000, false)).toBe(true);
    expect([fallbacks, at(0).isClosed, at(1).heard[0], at(1).heard.length]).toEqual([['a b'], true, 451, 50]);
    at(1).emit(final('late', 500));
    // Counted from the call's first sample.
    expect(events.at(-1)).toMatchObject({ transcript: { words: [{ endMs: 9500 }] } });
  });

  test.each([
    ['has failed when the next one tells words', 'b', false],
    ['has not when the next one tells none either', undefined, true],
  ])('%s', (_what, teller, isClosed) => {
    const { connection, at, breakers, recorded } = rig('a', 'b');
    at(0).emit({ type: 'connected' });
    connection.leave?.(DEAF, 1000, false);
    at(1).emit({ type: 'connected' });
    if (teller) at(1).emit(final('words', 500));
    expect([breakers.isClosed('a'), recorded.includes('a told no word')]).toEqual([isClosed, !isClosed]);
  });

  test('is connected again where it is the only one, if that is wanted', () => {
    const { connection, push, at, fallbacks, vendors, breakers } = rig('a');
    at(0).emit({ type: 'connected' });
    push(10);
    expect([connection.leave?.(DEAF, 1000, false), vendors[0]?.connections.length]).toEqual([false, 1]);
    expect(connection.leave?.(DEAF, 1000, true)).toBe(true);
    expect([fallbacks, at(0, 1).heard.length]).toEqual([['a a'], 10]);
    at(0, 1).emit(final('words', 100));
    expect(breakers.isClosed('a')).toBe(true);
  });
});

describe('A connection whose vendor ends it at an age', () => {
  const MAX_AGE_MS = 60_000;

  /** Connected, of age, and in a turn. */
  function aged() {
    const call = rigOf([fakeVendor('a', MAX_AGE_MS)]);
    const { clock, at, push } = call;
    at(0).emit({ type: 'connected' });
    clock.advance(MAX_AGE_MS - 1000);
    push(100);
    at(0).emit({ type: 'interim', transcript: { text: 'I would' } });
    clock.advance(10_000);
    const connections = () => call.vendors[0]?.connections.length;
    return { ...call, connections };
  }

  test('is replaced at a pause, and the next one goes on with the times of the call', () => {
    const { clock, at, push, events, connections, fallbacks } = aged();
    expect(connections()).toBe(1);
    at(0).emit(final('table', 1900));
    push(100);
    clock.advance(4000);
    expect(connections()).toBe(2);
    // The last second, and what comes while it connects; both hear it.
    expect(at(0, 1).heard[0]).toBe(151);
    push(1);
    expect([at(0).heard.at(-1), at(0, 1).heard.at(-1)]).toEqual([201, 201]);
    expect(at(0).isClosed).toBe(false);
    at(0, 1).emit({ type: 'connected' });
    expect(at(0).isClosed).toBe(true);
    push(1);
    expect([at(0).heard.at(-1), at(0, 1).heard.at(-1)]).toEqual([201, 202]);
    at(0).emit(final('late', 100));
    at(0, 1).emit(final('please', 500));
    expect(events.map((event) => ('transcript' in event ? event.transcript.text : event.type))).toEqual([
      'connected',
      'I would',
      'table',
      'please',
    ]);
    expect(events.at(-1)).toMatchObject({ transcript: { words: [{ endMs: 3500 }] } });
    expect(fallbacks).toEqual([]);
    // The next one is of age in turn.
    clock.advance(MAX_AGE_MS + 4000);
    expect(connections()).toBe(3);
  });

  test('is kept when the caller speaks before the next one is connected', () => {
    const { clock, at, connections, events } = aged();
    at(0).emit(final('table', 1900));
    clock.advance(4000);
    at(0).emit({ type: 'interim', transcript: { text: 'and' } });
    expect(at(0, 1).isClosed).toBe(true);
    at(0, 1).emit({ type: 'connected' });
    at(0, 1).emit(final('twice', 100));
    expect(at(0).isClosed).toBe(false);
    expect(events).toHaveLength(4);
    at(0).emit(final('and more', 2500));
    clock.advance(4000);
    expect(connections()).toBe(3);
  });

  test('is kept when the next one cannot connect, which is tried again', () => {
    const { clock, at, connections, events, fallbacks } = aged();
    at(0).emit(final('table', 1900));
    clock.advance(4000);
    at(0, 1).emit(failed(true));
    expect(at(0).isClosed).toBe(false);
    clock.advance(10_000);
    expect(connections()).toBe(3);
    expect(events.map(({ type }) => type)).not.toContain('failed');
    expect(fallbacks).toEqual([]);
  });

  test('takes its replacement with it when the call ends or the vendor fails', () => {
    const { clock, at, connection } = aged();
    at(0).emit(final('table', 1900));
    clock.advance(4000);
    connection.close();
    expect(at(0, 1).isClosed).toBe(true);
    expect(clock.pendingTimers()).toBe(0);
  });
});
