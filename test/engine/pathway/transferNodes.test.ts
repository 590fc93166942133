import { expect, test } from 'vitest';
import type { AgentConfig } from '../../../src/agents/agentConfig.ts';
import { TRANSFER_OUTCOMES } from '../../../src/agents/transferOptions.ts';
import type { TurnOutput } from '../../../src/engine/turn/turn.ts';
import { memoryEngine } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';

const DESK = '+886212345678';
const OTHER = 'sip:desk@pbx.example.com';
const OPTIONS = {
  mode: 'warm',
  announce: '{{ callerNumber }} asks about {{ topic }}.',
  acceptBy: 'digit',
  acceptDigit: '5',
  timeoutSeconds: 20,
  strategy: 'simultaneous',
  holdMusic: { mediaId: 'a-file' },
  afterJoin: 'listen',
} as const;

/** A transfer, and an edge for each outcome to a node that says it. */
function conversationAt(data: object, agent: Partial<AgentConfig> = {}) {
  const model = scriptedModel(() => ({ text: 'Hello.' }));
  const says = (id: string) => ({ id, type: 'say' as const, data: { title: id, prompt: `${id}.` } });
  return memoryEngine({
    model,
    agent,
    pathway: {
      nodes: [
        { id: 'start', type: 'start', data: { title: 'Start' } },
        { id: 'desk', type: 'transfer', data: { title: 'Desk', ...data } as never },
        ...TRANSFER_OUTCOMES.map(says),
      ],
      edges: [
        { id: 'begin', source: 'start', target: 'desk' },
        ...TRANSFER_OUTCOMES.map((outcome) => ({
          id: outcome,
          source: 'desk',
          target: outcome,
          data: { condition: { event: 'transfer' as const, outcome } },
        })),
      ],
    },
  });
}

const actionsOf = (outputs: readonly TurnOutput[]) =>
  outputs.flatMap((output) => (output.type === 'action' ? [output.action] : []));
const textOf = (outputs: readonly TurnOutput[]) =>
  outputs.map((output) => (output.type === 'text' ? output.text : '')).join('');
const TRUNK = '00000000-0000-4000-8000-00000000000a';
const OTHER_TRUNK = '00000000-0000-4000-8000-00000000000b';
const VARIABLES = { team: DESK, topic: 'bills' };

test('A transfer node passes its targets and options on; the announcement is rendered when it is said', async () => {
  const conversation = conversationAt({ targets: ['{{ team }}', OTHER], ...OPTIONS });
  const outputs = await conversation.turn({ kind: 'begin' }, { variables: VARIABLES });
  expect(actionsOf(outputs)).toEqual([
    { kind: 'transfer', to: DESK, options: { ...OPTIONS, targets: [DESK, OTHER] } },
  ]);
});

test.each(TRANSFER_OUTCOMES)('A transfer that ends as %s takes the edge of that outcome', async (outcome) => {
  const conversation = conversationAt({ to: DESK });
  const outputs = await conversation.turn({ kind: 'begin' });
  expect(actionsOf(outputs)).toEqual([{ kind: 'transfer', to: DESK }]);
  const next = await conversation.turn({ kind: 'transfer_failed', to: DESK, outcome, reason: 'so it is' });
  expect(textOf(next)).toBe(`${outcome}.`);
  expect(conversation.events()).toContainEqual(
    expect.objectContaining({
      type: 'tool_result',
      data: { name: 'transfer_call', ok: false, result: 'so it is', to: DESK, outcome },
    }),
  );
});

test('A transfer to a variable that is none of the agent’s transferTargets takes the edge of a failed one', async () => {
  const conversation = conversationAt({ targets: [OTHER, '{{ team }}'] }, { transferTargets: [OTHER] });
  const outputs = await conversation.turn({ kind: 'begin' }, { variables: VARIABLES });
  expect(actionsOf(outputs)).toEqual([]);
  expect(textOf(outputs)).toBe('failed.');
});

test('What the channel says to a waiting caller is part of the history, and moves nothing', async () => {
  const conversation = conversationAt({ to: DESK });
  await conversation.turn({ kind: 'begin' });
  const outputs = await conversation.turn({ kind: 'transfer_update', progress: 'waiting' });
  expect(textOf(outputs)).toBe('');
  expect(conversation.session().state.currentNodeId).toBe('desk');
});

test.each([
  [
    'options',
    { to: DESK, mode: 'warm', announce: 'Ann asks about bills.' },
    [{ kind: 'transfer', to: DESK, options: { mode: 'warm', announce: 'Ann asks about bills.' } }],
  ],
  [
    'several targets',
    { targets: [DESK, OTHER] },
    [{ kind: 'transfer', to: DESK, options: { targets: [DESK, OTHER] } }],
  ],
  ['an option without effect', { to: DESK, announce: 'Ann.' }, []],
  ['no target', { mode: 'warm' }, []],
  ['a target that is not allowed', { targets: [DESK, '+886299999999'] }, []],
])('The model transfers by transfer_call with %s', async (_what, args, actions) => {
  let calls = 0;
  const model = scriptedModel(() => {
    calls += 1;
    return calls === 1 ? { calls: [{ name: 'transfer_call', arguments: args }] } : { text: 'Sorry.' };
  });
  const conversation = memoryEngine({
    model,
    agent: { transferTargets: [DESK, OTHER] },
    pathway: {
      nodes: [
        { id: 'start', type: 'start', data: { title: 'Start', prompt: 'Greet.', tools: ['transfer_call'] } },
      ],
      edges: [],
    },
  });
  const outputs = await conversation.turn({ kind: 'user_message', text: 'A person, please.' });
  expect(actionsOf(outputs)).toEqual(actions);
});

test.each([
  [{ to: { to: '{{ team }}', trunkId: TRUNK } }, { trunkId: TRUNK }],
  [{ to: '{{ team }}', trunkId: TRUNK }, { trunkId: TRUNK }],
  [
    { targets: ['{{ team }}', { to: OTHER, trunkId: OTHER_TRUNK }], trunkId: TRUNK },
    {
      targets: [
        { to: DESK, trunkId: TRUNK },
        { to: OTHER, trunkId: OTHER_TRUNK },
      ],
    },
  ],
])('Targets of a transfer node with trunks are passed on with them: %j', async (data, options) => {
  const outputs = await conversationAt(data).turn({ kind: 'begin' }, { variables: VARIABLES });
  expect(actionsOf(outputs)).toEqual([{ kind: 'transfer', to: DESK, options }]);
});

test('The last resort is called over its trunk', async () => {
  const agent = { notUnderstood: { transferTo: { to: DESK, trunkId: TRUNK } } };
  const conversation = conversationAt({ to: OTHER }, agent);
  await conversation.turn({ kind: 'begin' });
  const outputs = await conversation.turn({ kind: 'not_understood', leadsOn: true } as never);
  expect(actionsOf(outputs)).toEqual([{ kind: 'transfer', to: DESK, options: { trunkId: TRUNK } }]);
});
