import { describe, expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { customerNumberOf } from '../../../src/engine/session/sessionFacts.ts';
import { type MemoryOptions, memoryEngine } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';

const CALL = {
  direction: 'inbound',
  fromNumber: '+886912345678',
  toNumber: '+886223456789',
  callId: 'call-1',
  trunkId: 'trunk-1',
} as const;

const pathway: PathwayInput = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Start', prompt: '' } },
    {
      id: 'known',
      type: 'say',
      data: { title: 'Known', prompt: 'You call {{ channel }} {{ call.toNumber }}.' },
    },
    { id: 'other', type: 'say', data: { title: 'Other', prompt: 'Hello {{ call.fromNumber }}!' } },
  ],
  edges: [
    {
      id: 'a',
      source: 'start',
      target: 'known',
      data: { condition: { '==': [{ var: 'call.fromNumber' }, CALL.fromNumber] }, priority: 1 },
    },
    { id: 'b', source: 'start', target: 'other', data: { fallback: true } },
  ],
};

const engineWith = (options: Partial<MemoryOptions> = {}) =>
  memoryEngine({ model: scriptedModel(() => ({ text: 'Yes.' })), pathway, ...options });

describe('The facts of a session', () => {
  test('reach templates and conditions, above variables of the same names', async () => {
    const call = engineWith({ call: CALL });
    const outputs = await call.turn(
      { kind: 'begin' },
      { variables: { channel: 'tv', call: { fromNumber: '+10000000000' } } },
    );
    expect(outputs).toContainEqual({ type: 'text', text: `You call phone ${CALL.toNumber}.` });
  });

  test('of a chat have no call, whatever its variables claim', async () => {
    const chat = engineWith();
    const said = await chat.say('Hi', { variables: { call: CALL } });
    expect(said).toBe('Hello !');
  });

  test('cannot be set by a tool of the model', async () => {
    const model = scriptedModel((_request, index) =>
      index === 0
        ? { calls: [{ name: 'set_variable', arguments: { name: 'call', value: { fromNumber: '+1' } } }] }
        : { text: 'Done.' },
    );
    const nodes = [
      { id: 'start', type: 'start' as const, data: { title: 'S', prompt: 'Talk.', tools: ['set_variable'] } },
    ];
    const engine = engineWith({ model, call: CALL, pathway: { nodes, edges: [] } });
    await engine.say('Hi');
    expect(engine.session().state.variables).toEqual({});
    expect(engine.events()).toContainEqual(
      expect.objectContaining({
        type: 'error',
        data: expect.objectContaining({ code: 'reserved_variable', name: 'call' }),
      }),
    );
  });

  test.each([
    [true, true],
    [false, false],
  ])('tell the model the numbers where shareCallerNumber is %s', async (shareCallerNumber, isTold) => {
    const model = scriptedModel(() => ({ text: 'Yes.' }));
    const nodes = [{ id: 'start', type: 'start' as const, data: { title: 'Start', prompt: 'Talk.' } }];
    const engine = engineWith({
      model,
      call: CALL,
      pathway: { nodes, edges: [] },
      agent: { shareCallerNumber },
    });
    await engine.say('Hi');
    const prompt = JSON.stringify(model.requests.at(-1)?.messages);
    expect(prompt).toContain('inbound');
    expect(prompt.includes(CALL.fromNumber)).toBe(isTold);
  });
});

test('The customer of a call is the other party', () => {
  const { fromNumber, toNumber } = CALL;
  expect(customerNumberOf(CALL)).toBe(fromNumber);
  expect(customerNumberOf({ ...CALL, direction: 'outbound' })).toBe(toNumber);
});
