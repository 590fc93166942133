import { expect, test } from 'vitest';
import type { CustomerStore, ErasedBatch } from '../../../src/calls/customers/customer.ts';
import { Customers } from '../../../src/calls/customers/customers.ts';
import type { CallRecordings } from '../../../src/calls/recording/callRecordings.ts';
import type { TurnCheckpointStore } from '../../../src/engine/session/interruptedTurn.ts';
import type { TurnSpool } from '../../../src/engine/session/writeBehind.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

const NAME = { projectId: 'p', key: '+886912345678' };
const AUTHOR = { actor: { kind: 'admin' }, requestId: 'r' };
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

function scene() {
  const clock = createSimulatedClock(Date.UTC(2026, 0, 1));
  const log: string[] = [];
  const errors: string[] = [];
  const state = {
    calls: [] as { id: string; hasEnded: boolean }[],
    batches: [] as ErasedBatch[],
    pending: [] as (typeof NAME)[],
    hasMemory: true,
    failing: undefined as string | undefined,
  };
  const did = async (what: string) => {
    if (state.failing === what) throw new Error(what);
    log.push(what);
  };
  const store = {
    find: async () => (state.hasMemory ? { memory: 'likes tea' } : undefined),
    async removeMemory(_name: unknown, { action, target }: { action: string; target: string }) {
      log.push(`${action} of ${target}`);
      return state.hasMemory;
    },
    unsettledCalls: async () => state.calls,
    async requestErasure(_name: unknown, entry: Record<string, unknown>) {
      log.push('requested');
      expect(entry).toMatchObject({
        ...AUTHOR,
        action: 'customer.erased',
        projectId: 'p',
        at: new Date(clock.now()).toISOString(),
      });
      expect(JSON.stringify(entry)).not.toContain(NAME.key);
    },
    async eraseNext({ key }: typeof NAME) {
      await did(`next of ${key}`);
      return state.batches.shift();
    },
    pendingErasures: async (most: number, after?: typeof NAME) =>
      state.pending.slice(after ? state.pending.indexOf(after) + 1 : 0).slice(0, most),
  } as unknown as CustomerStore;
  const customers = new Customers({
    store,
    checkpoints: unused<TurnCheckpointStore>('checkpoints', { drop: (id) => did(`checkpoint ${id}`) }),
    spool: unused<TurnSpool>('spool', { drop: (id) => did(`spool ${id}`) }),
    forgetEvents: (id) => did(`events of ${id}`),
    recordings: unused<CallRecordings>('recordings', {
      remove: (key) => did(`recording ${key}`),
      removeWorkingFile: ({ id }) => did(`file of ${id}`),
    }),
    digest: (text) => `digest(${text.length})`,
    clock,
    makeId: () => 'id',
    onError: (_error, what) => errors.push(what),
  });
  return { clock, customers, errors, log, state };
}

const batch = (fields: Partial<ErasedBatch>): ErasedBatch => ({
  instanceIds: [],
  callIds: [],
  recordingKeys: [],
  isLast: false,
  ...fields,
});

test('A person’s memory is read and removed, and the audit log does not name them', async () => {
  const { customers, log, state } = scene();
  const keyHash = `digest(${'customer p '.length + NAME.key.length})`;
  expect(await customers.find(NAME)).toEqual({ memory: 'likes tea', keyHash });
  await customers.removeMemory(NAME, AUTHOR);
  expect(log).toEqual([`customer.memory_deleted of ${keyHash}`]);
  state.hasMemory = false;
  for (const action of [customers.find(NAME), customers.removeMemory(NAME, AUTHOR)])
    await expect(action).rejects.toMatchObject({ code: 'customer_not_found' });
});

test('An erasure goes on batch by batch, with the copies of each', async () => {
  const { customers, errors, log, state } = scene();
  state.batches = [
    batch({ instanceIds: ['i'], callIds: ['c'], recordingKeys: ['k'] }),
    batch({ recordingKeys: ['l'], isLast: true }),
    batch({}),
  ];
  state.failing = 'recording k';
  await customers.erase(NAME, AUTHOR);
  expect(log).toEqual([
    'requested',
    `next of ${NAME.key}`,
    'events of p',
    'checkpoint i',
    'spool i',
    'file of c',
    `next of ${NAME.key}`,
    'events of p',
    'recording l',
  ]);
  expect(errors).toEqual(['copy of erased data not removed, retrying']);
  expect(state.batches).toHaveLength(1);
});

test('A call in progress refuses an erasure; one that has just ended is waited for, five seconds at most', async () => {
  const { clock, customers, log, state } = scene();
  state.calls = [
    { id: 'c', hasEnded: false },
    { id: 'd', hasEnded: true },
  ];
  await expect(customers.erase(NAME, AUTHOR)).rejects.toMatchObject({
    code: 'customer_on_call',
    extra: { callIds: ['c', 'd'] },
  });
  state.calls = [{ id: 'd', hasEnded: true }];
  let outcome: unknown;
  const erase = () => {
    outcome = undefined;
    void customers.erase(NAME, AUTHOR).then(
      () => (outcome = 'erased'),
      ({ code }) => (outcome = code),
    );
  };
  erase();
  await settle();
  state.calls = [];
  clock.advance(100);
  await settle();
  expect(outcome).toBe('erased');
  state.calls = [{ id: 'd', hasEnded: true }];
  erase();
  for (let n = 0; n < 50; n += 1) {
    await settle();
    expect(outcome).toBeUndefined();
    clock.advance(100);
  }
  await settle();
  expect(outcome).toBe('customer_on_call');
  expect(log.filter((what) => what === 'requested')).toHaveLength(1);
});

test('What a failed node has begun is finished within half a minute, however many, one failure beside the others', async () => {
  const { clock, customers, errors, log, state } = scene();
  const stop = customers.startResuming();
  state.pending = Array.from({ length: 21 }, (_, n) => ({ projectId: 'p', key: `${n}` }));
  state.failing = 'next of 0';
  clock.advance(29_999);
  await settle();
  expect(log).toEqual([]);
  clock.advance(1);
  await settle();
  expect(log).toHaveLength(20);
  expect(errors).toEqual(['customer not erased, retrying']);
  await stop();
  expect(clock.pendingTimers()).toBe(0);
});
