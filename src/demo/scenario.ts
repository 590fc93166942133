import type { PathwayInput } from '../agents/pathway/schema/pathwaySchema.ts';
import type { BehaviourInput } from '../testing/simulator/script.ts';

/** The parties of the simulated call. */
export const CALLEE_NUMBER = '+886912345678';
export const AGENT_NUMBER = '+886223456789';
export const CALLEE_NAME = 'Ada';

/** One call: what the agent is to do, and the simulated callee. */
export interface Scenario {
  readonly pathway: PathwayInput;
  /** As in the API. */
  readonly variables: readonly object[];
  readonly callee: BehaviourInput;
}

/** The agent's pathway: asks whether the table is kept and what to prepare for the guest. */
const PATHWAY: PathwayInput = {
  nodes: [
    {
      id: 'greeting',
      type: 'start',
      data: {
        title: 'Ask about the table',
        prompt:
          'Say: "Hello {{ name }}, this is Luna. Would you like to keep your table for two, tomorrow at seven?"',
        expectedAnswers: ['yes keep it', 'no cancel it'],
      },
      position: { x: 0, y: 0 },
    },
    {
      id: 'special',
      type: 'conversation',
      data: {
        title: 'Ask what to prepare',
        prompt:
          'Ask: "Wonderful. Is there anything special that we can prepare for you, such as a birthday cake, a high chair, or a quiet table?"',
        expectedAnswers: ['a birthday cake', 'a high chair', 'a quiet table', 'no thank you', 'nothing'],
      },
      position: { x: 0, y: 160 },
    },
    {
      id: 'prepared',
      type: 'say',
      data: {
        title: 'Confirm the wish',
        prompt: 'One {{ wish }}, with pleasure.',
      },
      position: { x: -160, y: 320 },
    },
    {
      id: 'plain',
      type: 'say',
      data: { title: 'Confirm the table', prompt: 'Very well. See you tomorrow at seven.' },
      position: { x: 160, y: 320 },
    },
    {
      id: 'canceled',
      type: 'say',
      data: { title: 'Let the table go', prompt: 'I understand. Another time, then.' },
      position: { x: 320, y: 160 },
    },
    {
      id: 'goodbye',
      type: 'end',
      data: { title: 'Goodbye', prompt: 'Say: "Goodbye, {{ name }}."' },
      position: { x: 0, y: 480 },
    },
  ],
  edges: [
    edge('greeting', 'canceled', 'The caller says no, or wants to cancel the table.'),
    edge('greeting', 'special', 'The caller says yes, or wants to keep the table.'),
    edge('special', 'prepared', { '!!': [{ var: 'wish' }] }),
    edge('special', 'plain', null, true),
    edge('prepared', 'goodbye', null),
    edge('plain', 'goodbye', null),
    edge('canceled', 'goodbye', null),
  ],
};

const VARIABLES = [
  {
    name: 'wish',
    type: 'enum',
    description: 'What the restaurant is to prepare.',
    values: ['birthday cake', 'high chair', 'quiet table'],
  },
];

/** The simulated callee: listens, answers, and interrupts the second question. */
const CALLEE: BehaviourInput = {
  kind: 'answers',
  afterMs: 700,
  script: [
    { do: 'listen', quietMs: 500 },
    { do: 'say', text: 'Yes, keep it.' },
    { do: 'interrupt', afterMs: 2000, text: 'A birthday cake, please.' },
  ],
  stays: true,
};

export const SCENARIO: Scenario = { pathway: PATHWAY, variables: VARIABLES, callee: CALLEE };

type Edge = NonNullable<PathwayInput['edges']>[number];
type Condition = NonNullable<Edge['data']>['condition'];

function edge(source: string, target: string, condition: Condition, fallback = false): Edge {
  return { id: `${source}-${target}`, source, target, data: { label: target, condition, fallback } };
}
