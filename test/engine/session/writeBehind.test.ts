import { beforeEach, describe, expect, test } from 'vitest';

import { CallwayError, unavailable } from '../../../src/base/errors.ts';
import type { Session } from '../../../src/engine/session/session.ts';
import type { SessionEnding, SessionStore } from '../../../src/engine/session/sessionStore.ts';
import { type PendingTurn, WriteBehind } from '../../../src/engine/session/writeBehind.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';
import { makeSession } from '../support/makeSession.ts';

const SESSION = makeSession({ turn: 1 });
const turn = (number: number): Session => ({ ...SESSION, turn: number });
const record = (content: string) => ({ messages: [{ role: 'user', content, at: '' }], events: [] }) as const;
const ENDING: SessionEnding = {
  at: '',
  missingVariables: [],
  language: null,
  reason: 'end_node',
  finalizeBy: '',
  expected: [],
  subscribed: [],
  evaluating: false,
  skippedAnalysis: null,
  readsMessages: false,
};

/** A database of one session, which the test makes unavailable. */
interface Database {
  state: 'there' | 'away' | 'silent';
  session: Session | undefined;
  /** Whether it stores and its response is lost. */
  losesAnswers: boolean;
  /** How far away it is for turns. */
  distanceMs: number;
  saves: number;
  /** Delays the result of a read. */
  telling: Promise<void> | undefined;
  readonly kept: string[];
}

let clock: SimulatedClock;
let database: Database;
let spooled: Map<string, PendingTurn[]>;
/** Delays the emptying of the spool. */
let emptying: Promise<void> | undefined;
let errors: string[];
let writeBehind: WriteBehind;

const sessions: SessionStore = {
  insert: async (session) => {
    await reached();
    database.session = session;
  },
  find: async () => {
    const { session, telling } = database;
    await reached();
    await telling;
    return session;
  },
  async saveTurn(session, { messages }) {
    database.saves += 1;
    await reached();
    if (database.distanceMs > 0)
      await new Promise<void>((resolve) => clock.setTimer(resolve, database.distanceMs));
    if (database.session?.turn !== session.turn - 1)
      throw new CallwayError('conflict', 'session_changed', '');
    database.session = session;
    database.kept.push(...messages.map(({ content }) => `${content}`));
    if (database.losesAnswers) throw unavailable('database');
  },
  async appendLateTurn(_session, { messages }) {
    await reached();
    database.kept.push(...messages.map(({ content }) => `late ${content}`));
  },
  async end(_projectId, _sessionId, ending) {
    await reached();
    const { session } = database;
    if (!session || !(await ending(session))) return undefined;
    database.session = undefined;
    database.kept.push('end');
    return session;
  },
  findByDigest: async () => undefined,
  messagesBefore: async () => [],
  search: async () => ({ items: [], total: 0, nextCursor: null }),
  idle: async () => [],
};
async function reached(): Promise<void> {
  if (database.state === 'away') throw unavailable('database');
  if (database.state === 'silent') await new Promise(() => {});
}
/** Advances the clock and lets due work run. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    clock.advance(50);
    for (let n = 0; n < 10; n += 1) await Promise.resolve();
  }
}

const begin = () =>
  new WriteBehind({
    sessions,
    async addOptOut({ number }) {
      await reached();
      database.kept.push(number);
    },
    spool: {
      async put(taken) {
        const { instanceId } = taken.session;
        spooled.set(instanceId, [...(spooled.get(instanceId) ?? []), taken]);
      },
      async drop(instanceId) {
        await emptying;
        spooled.delete(instanceId);
      },
      readPending: async () => [...spooled.values()],
    },
    clock,
    onError: (error) => errors.push(String(error)),
  });

beforeEach(async () => {
  clock = createSimulatedClock();
  database = {
    ...{ state: 'there', session: SESSION, losesAnswers: false, telling: undefined },
    ...{ distanceMs: 0, saves: 0, kept: [] },
  };
  spooled = new Map();
  emptying = undefined;
  errors = [];
  writeBehind = begin();
  await writeBehind.find('p', 's');
});

describe('WriteBehind with an available database', () => {
  test('stores turns at once', async () => {
    await writeBehind.saveTurn(turn(2), record('one'));
    expect([database.kept, spooled.size, clock.pendingTimers()]).toEqual([['one'], 0, 0]);
    expect((await writeBehind.find('p', 's'))?.turn).toBe(2);
  });

  test('does not return a session that was read before a turn', async () => {
    let tell = () => {};
    database.telling = new Promise((resolve) => {
      tell = resolve;
    });
    const finding = writeBehind.find('p', 's');
    database.state = 'away';
    await writeBehind.saveTurn(turn(2), record('one'));
    tell();
    expect((await finding)?.turn).toBe(2);
    expect((await writeBehind.find('p', 's'))?.turn).toBe(2);
  });

  test('does not replace a session by what a read from before it finds', async () => {
    let tell = () => {};
    database.telling = new Promise((resolve) => {
      tell = resolve;
    });
    const finding = writeBehind.find('p', 's');
    await writeBehind.insert(
      { ...SESSION, instanceId: 'next' },
      { type: 'session_started', at: '', data: {} },
    );
    tell();
    await finding;
    expect(writeBehind.peek('p', 's')?.instanceId).toBe('next');
  });

  test('returns changes of other nodes, and no ended session', async () => {
    database.session = turn(7);
    expect((await writeBehind.find('p', 's'))?.turn).toBe(7);
    database.session = undefined;
    expect(await writeBehind.find('p', 's')).toBeUndefined();
  });

  test('rejects a turn after another one was stored', async () => {
    database.session = turn(5);
    await expect(writeBehind.saveTurn(turn(2), record('one'))).rejects.toMatchObject({
      code: 'session_changed',
    });
  });
});

describe('WriteBehind with an unavailable database', () => {
  test('continues from memory, and stores the turns in order later', async () => {
    database.state = 'away';
    await writeBehind.saveTurn(turn(2), record('one'));
    expect((await writeBehind.find('p', 's'))?.turn).toBe(2);
    await writeBehind.saveTurn(turn(3), record('two'));
    expect(spooled.get('i')).toHaveLength(2);
    await pass(3000);
    database.state = 'there';
    await pass(300);
    expect([database.kept, database.session?.turn, spooled.size]).toEqual([['one', 'two'], 3, 0]);
    await writeBehind.saveTurn(turn(4), record('three'));
    expect(database.kept).toEqual(['one', 'two', 'three']);
  });

  test('lists a number that a turn has kept before the turn, also after a restart', async () => {
    const optOut = {
      projectId: 'p',
      number: '+13105551234',
      callId: 'c',
      source: 'spoken' as const,
      reason: 'stop',
    };
    for (const restarts of [false, true]) {
      database.state = 'away';
      database.kept.length = 0;
      database.session = SESSION;
      await writeBehind.saveTurn(turn(2), { ...record('one'), optOut });
      expect(spooled.get('i')?.[0]?.record.optOut).toEqual(optOut);
      if (restarts) {
        await writeBehind.close();
        writeBehind = begin();
        await writeBehind.start();
      }
      database.state = 'there';
      await pass(300);
      expect(database.kept).toEqual(['+13105551234', 'one']);
    }
  });

  test('stores a turn that arrives while the spool is emptied', async () => {
    database.state = 'away';
    await writeBehind.saveTurn(turn(2), record('one'));
    database.state = 'there';
    let empty = () => {};
    emptying = new Promise((resolve) => {
      empty = resolve;
    });
    await pass(300);
    expect(database.kept).toEqual(['one']);
    await writeBehind.saveTurn(turn(3), record('two'));
    empty();
    await pass(300);
    expect([database.kept, clock.pendingTimers()]).toEqual([['one', 'two'], 0]);
  });

  test('drops a session from memory once its turns are stored', async () => {
    database.state = 'away';
    await writeBehind.saveTurn(turn(2), record('one'));
    writeBehind.forget('p', 's');
    expect(writeBehind.peek('p', 's')?.turn).toBe(2);
    database.state = 'there';
    await pass(600);
    expect([database.kept, writeBehind.peek('p', 's')]).toEqual([['one'], undefined]);
    await writeBehind.find('p', 's');
    writeBehind.forget('p', 's');
    expect(writeBehind.peek('p', 's')).toBeUndefined();
  });

  test('fails for an unknown session', async () => {
    database.state = 'away';
    await expect(writeBehind.find('p', 'other')).rejects.toMatchObject({ code: 'database_unavailable' });
  });

  test('ends a session after its pending turns', async () => {
    database.state = 'away';
    await writeBehind.saveTurn(turn(2), record('one'));
    expect((await writeBehind.end('p', 's', async () => ENDING))?.turn).toBe(2);
    writeBehind.forget('p', 's');
    database.state = 'there';
    await pass(600);
    expect(database.kept).toEqual(['one', 'end']);
    expect(writeBehind.peek('p', 's')).toBeUndefined();
    expect(await writeBehind.find('p', 's')).toBeUndefined();
  });

  test('adds turns of a session that ended meanwhile to the history', async () => {
    database.state = 'away';
    await writeBehind.saveTurn(turn(2), record('one'));
    await writeBehind.saveTurn(turn(3), record('two'));
    database.session = undefined;
    database.state = 'there';
    await pass(600);
    expect(database.kept).toEqual(['late one', 'late two']);
  });

  test('stores a turn once when the response was lost', async () => {
    database.losesAnswers = true;
    await writeBehind.saveTurn(turn(2), record('one'));
    database.losesAnswers = false;
    await pass(600);
    expect([database.kept, errors]).toEqual([
      ['one'],
      ['CallwayError: database is unavailable at the moment; try again shortly'],
    ]);
  });

  test('skips a turn that cannot be stored', async () => {
    database.state = 'away';
    await writeBehind.saveTurn(turn(2), record('one'));
    database.session = { ...SESSION, turn: 0 };
    database.state = 'there';
    await pass(600);
    expect(errors).toHaveLength(2);
    expect([database.kept, spooled.size]).toEqual([[], 0]);
  });
});

test('WriteBehind waits 1.5 s for a silent database', async () => {
  database.state = 'silent';
  const found = writeBehind.find('p', 's');
  await pass(1500);
  expect((await found)?.turn).toBe(1);
  const saved = writeBehind.saveTurn(turn(2), record('one'));
  await pass(1500);
  await saved;
  database.state = 'there';
  await pass(2000);
  expect(database.kept).toEqual(['one']);
});

test('WriteBehind lets the next turn begin while a slow database stores the one before, each once and in order', async () => {
  database.distanceMs = 300;
  const begunMs = clock.monotonicMs();
  for (const number of [2, 3]) {
    const saved = writeBehind.saveTurn(turn(number), record(`turn ${number}`));
    await pass(50);
    await saved;
    expect(writeBehind.peek('p', 's')?.turn).toBe(number);
  }
  const ended = await writeBehind.end('p', 's', async () => ENDING);
  expect([ended?.turn, database.kept, spooled.get('i')?.length]).toEqual([3, [], 2]);
  expect(clock.monotonicMs() - begunMs).toBe(100);
  await pass(800);
  expect([database.kept, database.saves, spooled.size]).toEqual([['turn 2', 'turn 3', 'end'], 2, 0]);
  expect(errors).toEqual([]);
});

test('WriteBehind waits longer for a session that it does not hold', async () => {
  writeBehind = begin();
  let tell = () => {};
  database.telling = new Promise((resolve) => {
    tell = resolve;
  });
  const found = writeBehind.find('p', 's');
  await pass(5000);
  tell();
  expect(await found).toEqual(SESSION);
});

describe('WriteBehind.close with an unavailable database', () => {
  test('leaves the turns in the spool for the next process', async () => {
    database.state = 'away';
    await writeBehind.saveTurn(turn(2), record('one'));
    const closed = writeBehind.close();
    await pass(2000);
    await closed;
    expect([database.kept, spooled.get('i')]).toEqual([
      [],
      [expect.objectContaining({ record: record('one') })],
    ]);

    database.state = 'there';
    await begin().start();
    await pass(300);
    expect([database.kept, spooled.size]).toEqual([['one'], 0]);
  });
});
