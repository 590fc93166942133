import { describe, expect, test, vi } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { CallwayError, invalid } from '../../../src/base/errors.ts';
import type { Session } from '../../../src/engine/session/session.ts';
import type { SessionStore } from '../../../src/engine/session/sessionStore.ts';
import { memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';

const pathway: PathwayInput = {
  nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Answer.' } }],
  edges: [],
};

function scene(wrapSessions: (sessions: SessionStore) => Partial<SessionStore> = () => ({})) {
  const log: string[] = [];
  const model = scriptedModel((_request, index) => ({ text: `Answer ${index}.` }));
  const conversation = memoryEngine({
    model,
    pathway,
    lock: {
      async acquire() {
        const release = async () => void log.push('release');
        return { lost: new AbortController().signal, wasContended: false, release };
      },
    },
    wrapSessions: (sessions) => ({ ...sessions, ...wrapSessions(sessions) }),
  });
  return { conversation, model, log };
}

function spokenTurn(onSession: (session: Session) => void) {
  const heard = { text: 'Yes.', interrupted: false };
  return {
    delivery: { onSession, onNode: () => undefined, finish: async () => heard, heardSoFar: () => heard },
  };
}

describe('A spoken turn', () => {
  const input = { kind: 'user_message', text: 'Well' } as const;

  test('tells its channel the session that it runs on', async () => {
    const { conversation } = scene();
    const turns: number[] = [];
    const turn = spokenTurn((session) => void turns.push(session.turn));
    await conversation.turn(input, turn);
    await conversation.turn(input, turn);
    expect(turns).toEqual([0, 1]);
  });

  test('stores nothing when its channel refuses the session', async () => {
    const { conversation, log } = scene();
    const refusal = invalid('other', 'another session');
    const refuse = () => {
      throw refusal;
    };
    await expect(conversation.turn(input, spokenTurn(refuse))).rejects.toBe(refusal);
    expect([conversation.sessions.size, conversation.records, log]).toEqual([0, [], ['release']]);
  });
});

describe('The first turn of a session', () => {
  test('continues a session that the API created meanwhile', async () => {
    let create = async () => {};
    const { conversation } = scene((sessions) => ({
      async insert(session, started) {
        await create();
        await sessions.insert(session, started);
      },
    }));
    create = async () => {
      create = async () => {};
      const wanted = { projectId: PROJECT, sessionId: 's', channel: 'chat', provider: 'api' } as const;
      await conversation.engine.create(wanted);
    };
    expect(await conversation.say('First')).toBe('Answer 0.');
    expect(conversation.session()).toMatchObject({ provider: 'api', turn: 1 });
  });

  test('fails without a model request when the session cannot be stored', async () => {
    const failure = invalid('no', 'no');
    const { conversation, model } = scene(() => ({ insert: () => Promise.reject(failure) }));
    await expect(conversation.say('First')).rejects.toBe(failure);
    expect([conversation.sessions.size, conversation.records, model.requests]).toEqual([0, [], []]);
  });
});

test('A turn stops when its lock is lost, since another node may run the next one', async () => {
  const losing = new AbortController();
  const model = scriptedModel(() => ({ text: 'Well, ', hang: true }));
  const conversation = memoryEngine({
    model,
    pathway,
    lock: {
      acquire: async () => ({ lost: losing.signal, wasContended: false, release: async () => undefined }),
    },
  });
  const turn = conversation.say('First');
  await vi.waitFor(() => expect(model.requests).toHaveLength(1));
  losing.abort(new CallwayError('conflict', 'session_busy', 'lost'));
  await expect(turn).rejects.toMatchObject({ code: 'session_busy' });
  expect(model.abortedRequests()).toBe(1);
});

test('A turn holds its lock until its failure is stored', async () => {
  let store = () => {};
  const { conversation, log } = scene((sessions) => ({
    async saveTurn(session, history) {
      log.push('save');
      await new Promise<void>((resolve) => {
        store = resolve;
      });
      await sessions.saveTurn(session, history);
    },
  }));
  const leaving = new AbortController();
  const turn = conversation.engine.runTurn(
    { projectId: PROJECT, sessionId: 's', channel: 'chat' },
    () => ({ input: { kind: 'user_message', text: 'First' } }),
    ({ type }) => (type === 'start' ? void leaving.abort(new Error('gone')) : undefined),
    leaving.signal,
  );
  await vi.waitFor(() => expect(log).toEqual(['save']));
  store();
  await expect(turn).rejects.toThrow('gone');
  expect(log).toEqual(['save', 'release']);
});
