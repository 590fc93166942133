import { describe, expect, test, vi } from 'vitest';
import type { TurnOutput } from '../../../src/engine/turn/turn.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { pathway } from './support/bookingPathway.ts';

describe('Failures', () => {
  const away = new ModelError('model_unavailable', 'The model is away', { beforeFirstToken: true });

  test('A model that fails before its first word leaves the conversation unchanged', async () => {
    const model = scriptedModel((_request, index) => (index === 0 ? { fail: away } : { text: 'Hello!' }));
    const conversation = memoryEngine({ model, pathway });
    await expect(conversation.say('Hi')).rejects.toMatchObject({ code: 'model_unavailable' });
    expect(conversation.session().state.messages).toEqual([]);
    expect(conversation.events().at(-1)).toMatchObject({
      type: 'error',
      data: { code: 'model_unavailable' },
    });
    expect(await conversation.say('Hi')).toBe('Hello!');
    expect(conversation.session().state.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  test('A turn of a session that ended meanwhile is added to the history', async () => {
    const model = scriptedModel(() => ({ text: ['One', ' two'] }));
    const conversation = memoryEngine({ model, pathway });
    const wanted = { projectId: PROJECT, sessionId: 's', channel: 'chat' } as const;
    const endSession = async () => void (await conversation.engine.end(PROJECT, 's', 'api_end'));
    const turn = conversation.engine.runTurn(
      wanted,
      () => ({ input: { kind: 'user_message', text: 'Count' } }),
      ({ type }) => (type === 'text' ? endSession() : undefined),
      new AbortController().signal,
    );
    await expect(turn).rejects.toMatchObject({ code: 'session_changed' });
    expect(conversation.records.at(-1)?.messages).toMatchObject([
      { content: 'Count' },
      { content: 'One two' },
    ]);
  });

  test('Unanswered spoken words of a session that ended meanwhile are added to the history', async () => {
    const errors: unknown[] = [];
    const model = scriptedModel(() => ({
      after: conversation.engine.end(PROJECT, 's', 'api_end'),
      fail: away,
    }));
    const conversation = memoryEngine({ model, pathway, onError: (error) => void errors.push(error) });
    const delivery = {
      onSession: () => undefined,
      onNode: () => undefined,
      finish: async () => ({ text: '', interrupted: false }),
      heardSoFar: () => ({ text: '', interrupted: false }),
    };
    await expect(conversation.turn({ kind: 'user_message', text: 'Help' }, { delivery })).rejects.toBe(away);
    expect(conversation.records.at(-1)).toMatchObject({
      messages: [{ content: 'Help' }],
      events: [{ type: 'error', data: { code: 'model_unavailable' } }],
    });
    expect(errors).toEqual([]);
  });

  test('A model that fails midway leaves its words, marked as interrupted', async () => {
    const model = scriptedModel(() => ({ text: ['Hel', 'lo'], fail: away }));
    const conversation = memoryEngine({ model, pathway });
    await expect(conversation.say('Hi')).rejects.toMatchObject({ code: 'model_unavailable' });
    expect(conversation.session().state.messages.at(-1)).toMatchObject({
      role: 'assistant',
      content: 'Hello',
      interrupted: true,
    });
  });

  test('A client that leaves stops the model, and what was said is stored', async () => {
    const model = scriptedModel(() => ({ text: ['One', ' two'], hang: true }));
    const conversation = memoryEngine({ model, pathway });
    const leaving = new AbortController();
    const wanted = { projectId: PROJECT, sessionId: 's', channel: 'chat' } as const;
    const turn = conversation.engine.runTurn(
      wanted,
      () => ({ input: { kind: 'user_message', text: 'Count' } }),
      ({ type }) => (type === 'text' ? void leaving.abort(new Error('gone')) : undefined),
      leaving.signal,
    );
    await expect(turn).rejects.toThrow('gone');
    expect(model.abortedRequests()).toBe(1);
    expect(conversation.session().state.messages.at(-1)).toMatchObject({ content: 'One', interrupted: true });
  });

  test('A client that leaves before the first word is recorded, and the conversation stays as it was', async () => {
    const model = scriptedModel((_request, index) => (index === 0 ? { hang: true } : { text: 'Hello!' }));
    const conversation = memoryEngine({ model, pathway });
    const leaving = new AbortController();
    const wanted = { projectId: PROJECT, sessionId: 's', channel: 'chat' } as const;
    const outputs: TurnOutput[] = [];
    const turn = conversation.engine.runTurn(
      wanted,
      () => ({ input: { kind: 'user_message', text: 'Hi' } }),
      (output) => void outputs.push(output),
      leaving.signal,
    );
    await vi.waitFor(() => expect(model.requests).toHaveLength(1));
    leaving.abort(new Error('gone'));
    await expect(turn).rejects.toThrow('gone');
    expect(outputs.map(({ type }) => type)).toEqual(['start']);
    expect(conversation.events().filter(({ type }) => type === 'error')).toMatchObject([
      { data: { code: 'interrupted' } },
    ]);
    expect(conversation.session().state).toMatchObject({ messages: [], currentNodeId: null });
    expect(await conversation.say('Hi')).toBe('Hello!');
  });

  test('A pathway that moves in circles without a word stops', async () => {
    const model = scriptedModel(() => ({ text: 'Hi.' }));
    const conversation = memoryEngine({
      model,
      pathway: {
        nodes: [
          { id: 'start', type: 'start', data: { title: 'S' } },
          { id: 'a', type: 'condition', data: { title: 'A' } },
          { id: 'b', type: 'condition', data: { title: 'B' } },
        ],
        edges: [
          { id: '1', source: 'start', target: 'a' },
          { id: '2', source: 'a', target: 'b' },
          { id: '3', source: 'b', target: 'a' },
        ],
      },
    });
    await conversation.say('Hi');
    expect(conversation.events().at(-1)).toMatchObject({ type: 'error', data: { code: 'too_many_hops' } });
  });
});
