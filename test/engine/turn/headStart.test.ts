import { describe, expect, test, vi } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { invalid } from '../../../src/base/errors.ts';
import type { Session } from '../../../src/engine/session/session.ts';
import type { HeldLock } from '../../../src/engine/session/sessionStore.ts';
import { collect } from '../../support/collect.ts';
import { memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { type ScriptedAnswer, scriptedModel } from '../../support/scriptedModel.ts';

const pathway: PathwayInput = {
  nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Answer.' } }],
  edges: [],
};

function deferred() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

interface Scene {
  readonly answer?: (index: number) => ScriptedAnswer;
  readonly lock?: () => Promise<void>;
  readonly read?: () => Promise<void>;
  readonly insert?: () => Promise<void>;
  readonly save?: () => Promise<void>;
  readonly onRelease?: () => void;
}

/** The engine with a lock that knows its marks, and with waits wherever a turn meets somebody else. */
function scene({ answer = (index) => ({ text: `Answer ${index}.` }), ...waits }: Scene = {}) {
  const { lock, read, insert, save, onRelease } = waits;
  let mark: string | null = null;
  const acquire = async (): Promise<HeldLock> => {
    await lock?.();
    const before = mark;
    mark = 'none was left';
    return {
      lost: new AbortController().signal,
      isNewest: (read) => before === null || before === read,
      isLeft: (left) => before === left,
      leave: (left) => {
        mark = left;
      },
      release: async () => onRelease?.(),
    };
  };
  let lookUps = 0;
  const model = scriptedModel((_request, index) => answer(index));
  const talk = memoryEngine({
    model,
    pathway,
    onReleaseLookUp: () => {
      lookUps += 1;
    },
    lock: { acquire, run: async (_project, _session, work) => work(await acquire()) },
    wrapSessions: (sessions) => ({
      ...sessions,
      async find(project, session) {
        await read?.();
        return await sessions.find(project, session);
      },
      async insert(session, started) {
        await insert?.();
        await sessions.insert(session, started);
      },
      async saveTurn(session, record) {
        await save?.();
        await sessions.saveTurn(session, record);
      },
    }),
  });
  const elsewhere = (change: (session: Session) => Session | undefined) => {
    const changed = change(talk.session());
    talk.sessions.clear();
    if (changed) talk.sessions.set('s', changed);
  };
  return { talk, model, elsewhere, lookUps: () => lookUps };
}

describe('a further turn', () => {
  test('asks the model before the session is read, and passes nothing on until it is', async () => {
    let reading: Promise<void> | undefined;
    const { talk, model } = scene({ read: async () => reading });
    await talk.say('First');
    const { open, opened } = deferred();
    reading = opened;
    let said: string | undefined;
    const saying = talk.say('Second').then((text) => {
      said = text;
    });
    await vi.waitFor(() => expect(model.requests.length).toBe(2));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(said).toBeUndefined();
    open();
    await saying;
    expect(said).toBe('Answer 1.');
    expect(talk.session().turn).toBe(2);
  });

  test('asks nothing while the lock is not held', async () => {
    let locking: Promise<void> | undefined;
    const { talk, model } = scene({ lock: async () => locking });
    await talk.say('First');
    const { open, opened } = deferred();
    locking = opened;
    const saying = talk.say('Second');
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(model.requests.length).toBe(1);
    open();
    expect(await saying).toBe('Answer 1.');
  });

  test.each([
    {
      title: 'another node went on with',
      change: (session: Session) => ({
        ...session,
        turn: 5,
        state: {
          ...session.state,
          messages: [...session.state.messages, { role: 'user' as const, content: 'Between', at: '' }],
        },
      }),
      turn: 6,
      asked: ['First', 'Answer 0.', 'Between', 'Second'],
    },
    { title: 'the API ended', change: () => undefined, turn: 1, asked: ['Second'] },
  ])('of a session that $title is taken back, and leaves nothing', async ({ change, turn, asked }) => {
    const { talk, model, elsewhere } = scene({ answer: () => ({ text: 'Answer 0.' }) });
    await talk.say('First');
    const records = talk.records.length;
    elsewhere(change);
    // The lock does not tell of it, so that the model is asked in vain.
    expect(await talk.say('Second')).toBe('Answer 0.');
    expect(model.requests.length).toBe(3);
    expect(talk.session().turn).toBe(turn);
    const spoken = talk.session().state.messages.map(({ content }) => content);
    expect(spoken).toEqual([...asked, 'Answer 0.']);
    expect(talk.events().filter(({ type }) => type === 'error')).toEqual([]);
    expect(talk.records.slice(records).filter(({ messages }) => messages.length > 0)).toHaveLength(1);
    await vi.waitFor(() => expect(model.left()).toBe(1));
  });

  test.each(['chat', 'phone'] as const)('of a %s asks nobody what sessions begin on now', async (channel) => {
    const { talk, lookUps } = scene();
    const take = async () => {
      const wanted = { projectId: PROJECT, sessionId: 's', channel };
      const read = () => ({ input: { kind: 'words' as const, text: 'Well' } });
      await collect(talk.engine.converse(wanted, read, new AbortController().signal));
    };
    await take();
    const toBegin = lookUps();
    expect(toBegin).toBeGreaterThan(0);
    await take();
    expect(lookUps()).toBe(toBegin);
  });

  test('of a talk is told of its session once, as it certainly is, and may refuse it', async () => {
    const { talk, elsewhere } = scene();
    const told: number[] = [];
    const take = async (of: (session: Session) => void) => {
      const delivery = {
        of,
        at: () => undefined,
        settle: async () => ({ text: 'Yes.', interrupted: false }),
        heard: () => ({ text: '', interrupted: false }),
      };
      const read = () => ({ input: { kind: 'words' as const, text: 'Well' }, delivery });
      const wanted = { projectId: PROJECT, sessionId: 's', channel: 'phone' } as const;
      await collect(talk.engine.converse(wanted, read, new AbortController().signal));
    };
    const tell = ({ turn }: Session) => void told.push(turn);
    await take(tell);
    await take(tell);
    elsewhere((session) => ({ ...session, turn: 7 }));
    await take(tell);
    expect(told).toEqual([0, 1, 7]);
    const refusal = invalid('other', 'another session');
    const records = talk.records.length;
    await expect(
      take(() => {
        throw refusal;
      }),
    ).rejects.toBe(refusal);
    expect(talk.records).toHaveLength(records);
    expect(talk.session().turn).toBe(8);
  });

  test('that says nothing is over for its channel once, when it is certain to be the turn', async () => {
    const { talk, elsewhere } = scene();
    await talk.say('First');
    elsewhere((session) => ({ ...session, turn: 5 }));
    const told: string[] = [];
    const delivery = {
      of: ({ turn }: Session) => void told.push(`of turn ${turn}`),
      at: () => undefined,
      settle: async () => {
        told.push('over');
        return { text: 'Are you there?', interrupted: false };
      },
      heard: () => ({ text: '', interrupted: false }),
    };
    await talk.turn({ kind: 'notice', code: 'silence', message: 'Nobody speaks' }, { spoken: delivery });
    expect(told).toEqual(['of turn 5', 'over']);
  });

  test('that is left at its begin while its failure is being kept holds up the next one until it is', async () => {
    const failure = invalid('no', 'no');
    const { open, opened } = deferred();
    const order: string[] = [];
    const { talk } = scene({
      answer: (index) => (index === 1 ? { fail: failure } : { text: 'Yes.' }),
      save: async () => {
        if (order.push('save') === 3) await opened;
      },
      onRelease: () => void order.push('release'),
    });
    await talk.say('First');
    const wanted = { projectId: PROJECT, sessionId: 's', channel: 'chat' } as const;
    const read = () => ({ input: { kind: 'words' as const, text: 'Second' } });
    const turn = talk.engine.converse(wanted, read, new AbortController().signal)[Symbol.asyncIterator]();
    expect(await turn.next()).toMatchObject({ value: { type: 'start' } });
    await vi.waitFor(() => expect(order).toEqual(['save', 'release', 'save']));
    const leaving = turn.return?.();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(order).toEqual(['save', 'release', 'save']);
    open();
    await leaving;
    expect(order).toEqual(['save', 'release', 'save', 'release']);
    expect(talk.session().turn).toBe(2);
  });

  test('that fails is kept as such once, and the next one begins anew', async () => {
    const failure = invalid('no', 'no');
    const { talk } = scene({ answer: (index) => (index === 1 ? { fail: failure } : { text: 'Yes.' }) });
    await talk.say('First');
    await expect(talk.say('Second')).rejects.toBe(failure);
    expect(talk.events().filter(({ type }) => type === 'error')).toHaveLength(1);
    expect(await talk.say('Third')).toBe('Yes.');
  });

  describe('that is over before its session is read', () => {
    const slowRead = async (options: Scene) => {
      let reading: Promise<void> | undefined;
      const begun = scene({ ...options, read: async () => reading });
      await begun.talk.say('First');
      const { open, opened } = deferred();
      reading = opened;
      const openLate = async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        open();
      };
      return { ...begun, openLate };
    };

    test('and says nothing is kept once', async () => {
      const { talk, openLate } = await slowRead({});
      const records = talk.records.length;
      const taking = talk.turn({ kind: 'last_words', text: 'Never mind' });
      await openLate();
      await taking;
      const said = talk.session().state.messages.map(({ content }) => content);
      expect(said).toEqual(['First', 'Answer 0.', 'Never mind']);
      expect(talk.records).toHaveLength(records + 1);
    });

    test('and fails is asked for once, and kept as failed once', async () => {
      const failure = invalid('no', 'no');
      const { talk, model, openLate } = await slowRead({
        answer: (index) => (index === 0 ? { text: 'Yes.' } : { fail: failure }),
      });
      const saying = expect(talk.say('Second')).rejects.toBe(failure);
      await openLate();
      await saying;
      expect(model.requests).toHaveLength(2);
      expect(talk.events().filter(({ type }) => type === 'error')).toHaveLength(1);
    });
  });

  test('that is left after its first piece is kept as far as it went', async () => {
    const { talk } = scene({ answer: () => ({ text: ['One ', 'two ', 'three'] }) });
    await talk.say('First');
    const wanted = { projectId: PROJECT, sessionId: 's', channel: 'chat' } as const;
    const { signal } = new AbortController();
    const read = () => ({ input: { kind: 'words' as const, text: 'Second' } });
    for await (const { type } of talk.engine.converse(wanted, read, signal)) {
      if (type === 'text') break;
    }
    expect(talk.session().state.messages.at(-1)).toMatchObject({ content: 'One ', interrupted: true });
  });
});

describe('a first turn', () => {
  test('asks the model while the session is being kept, and answers only then', async () => {
    const { open, opened } = deferred();
    const { talk, model } = scene({ insert: () => opened });
    const saying = talk.say('First');
    await vi.waitFor(() => expect(model.requests.length).toBe(1));
    expect(talk.sessions.size).toBe(0);
    open();
    expect(await saying).toBe('Answer 0.');
    expect(talk.session().turn).toBe(1);
  });

  test('of a session that was made meanwhile goes on with that one', async () => {
    let create = async () => {};
    const { talk, model } = scene({ insert: () => create() });
    create = async () => {
      create = async () => {};
      const wanted = { projectId: PROJECT, sessionId: 's', channel: 'chat', provider: 'made' } as const;
      await talk.engine.create(wanted);
    };
    expect(await talk.say('First')).toBe('Answer 1.');
    expect(talk.session()).toMatchObject({ provider: 'made', turn: 1 });
    expect(talk.session().state.messages.map(({ content }) => content)).toEqual(['First', 'Answer 1.']);
    await vi.waitFor(() => expect(model.left()).toBe(1));
  });

  test('of a session that cannot be kept fails, and leaves nothing', async () => {
    const failure = invalid('session_id_in_use', 'in use');
    const { talk, model } = scene({ insert: () => Promise.reject(failure), answer: () => ({ hang: true }) });
    await expect(talk.say('First')).rejects.toBe(failure);
    expect(talk.sessions.size).toBe(0);
    expect(talk.records).toEqual([]);
    await vi.waitFor(() => expect(model.left()).toBe(model.requests.length));
  });
});
