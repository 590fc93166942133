import { describe, expect, test } from 'vitest';
import { memoryEngine } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { pathway } from './support/bookingPathway.ts';

describe('endIdle', () => {
  const idle = (conversation: ReturnType<typeof memoryEngine>) => {
    const { projectId, sessionId, instanceId, turn } = conversation.session();
    return { projectId, sessionId, instanceId, turn };
  };
  const idling = async () => {
    const conversation = memoryEngine({ model: scriptedModel(() => ({ text: 'Hello.' })), pathway });
    await conversation.say('Hi');
    return conversation;
  };

  test('ends an unchanged idle session', async () => {
    const conversation = await idling();
    expect(await conversation.engine.endIdle(idle(conversation))).toBe(true);
    expect(conversation.sessions.size).toBe(0);
    expect(conversation.endings).toMatchObject([{ reason: 'idle' }]);
  });

  test('leaves a session alive that ran a turn meanwhile', async () => {
    const conversation = await idling();
    const found = idle(conversation);
    await conversation.say('Still here');
    expect(await conversation.engine.endIdle(found)).toBe(false);
    expect(conversation.session().turn).toBe(2);
    expect(conversation.endings).toEqual([]);
  });

  test('leaves a newer session with the same id alive', async () => {
    const conversation = await idling();
    const found = { ...idle(conversation), instanceId: 'another' };
    expect(await conversation.engine.endIdle(found)).toBe(false);
  });
});

describe('A session that changes while the lock is acquired', () => {
  /** @param meanwhile - What another node does between the read of the session and the lock. */
  function scene(wasContended: boolean) {
    const meanwhile = { act: () => {} };
    const model = scriptedModel((_request, index) => ({ text: `Answer ${index}.` }));
    let reads = 0;
    const conversation = memoryEngine({
      model,
      pathway,
      wrapSessions: (sessions) => ({
        ...sessions,
        find: (...session) => {
          reads += 1;
          return sessions.find(...session);
        },
      }),
      lock: {
        async acquire() {
          await Promise.resolve();
          meanwhile.act();
          return { lost: new AbortController().signal, wasContended, release: async () => undefined };
        },
      },
    });
    return { conversation, model, meanwhile, reads: () => reads };
  }

  test('is read again after another turn', async () => {
    const { conversation, model, meanwhile } = scene(true);
    await conversation.say('First');
    meanwhile.act = () => {
      const session = conversation.session();
      const messages = [...session.state.messages, { role: 'user' as const, content: 'Between', at: '' }];
      conversation.sessions.set('s', { ...session, turn: 7, state: { ...session.state, messages } });
    };
    await conversation.say('Second');
    expect(model.requests[1]?.messages.map(({ content }) => content)).toContain('Between');
    expect(conversation.session().turn).toBe(8);
  });

  test('is created anew after its end', async () => {
    const { conversation, meanwhile } = scene(true);
    await conversation.say('First');
    const { instanceId } = conversation.session();
    meanwhile.act = () => conversation.sessions.clear();
    await conversation.say('Second');
    expect(conversation.session().instanceId).not.toBe(instanceId);
    expect(conversation.session().turn).toBe(1);
  });

  test('is read once when the lock was free', async () => {
    const { conversation, reads } = scene(false);
    await conversation.say('First');
    expect(reads()).toBe(1);
  });
});
