import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { Tool } from '../../../src/agents/tool.ts';
import type { ScriptedAnswer } from '../../support/scriptedModel.ts';
import { ONE_NODE, type SimulatedCall } from '../support/simulatedCall.ts';
import type { WordCaller } from './wordSpeech.ts';

/** What an act of a scene, or a disturbance, may use. */
export interface Stage {
  readonly call: SimulatedCall;
  readonly caller: WordCaller;
  /** Words that no other has, of so many frames together. */
  speak(words: number, durationMs: number): void;
  say(text: string, durationMs: number): void;
  hangUp(): void;
}

/** When the next act's time has come: the agent has had its say, or is in the midst of it; or so many milliseconds on. */
export type Cue = 'after the agent' | 'amid the agent' | number;

export interface Scene {
  readonly name: string;
  /** By what the request's last message says. */
  readonly answer: (last: string) => ScriptedAnswer;
  readonly acts: readonly (readonly [Cue, (stage: Stage) => void])[];
  readonly pathway: PathwayInput;
  readonly tools?: readonly Tool[];
  readonly watchForMachines?: boolean;
  /** How the other side answers a transfer that is asked for. */
  readonly transfer?: 'fails' | 'works';
}

const GREETING = 'Hello there. What can I do?';
const TO = '+886212345678';
/** Of the tool that the agent calls. */
export const LOOK_UP_MS = 2500;

const TOOL: Tool = {
  id: 'tool-1',
  name: 'look_up',
  description: 'Looks it up.',
  parameters: { type: 'object', properties: {} },
  http: { method: 'GET', url: 'https://example.test/', headers: [], timeoutMs: 10_000 },
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};

const nodeWith = (data: object): PathwayInput => ({
  nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.', ...data } }],
  edges: [],
});

const isBegun = (last: string) => last !== '';

/** The agent greets, is asked, is cut short, gets keys, and says goodbye. */
const TALK: Scene = {
  name: 'a talk',
  answer: (last) => ({
    text: isBegun(last) ? 'Let me see about it. That may take some time today.' : GREETING,
  }),
  pathway: ONE_NODE,
  acts: [
    ['after the agent', ({ speak }) => speak(3, 900)],
    ['after the agent', ({ speak }) => speak(2, 600)],
    ['amid the agent', ({ speak }) => speak(4, 1000)],
    [1500, () => undefined],
    [
      'after the agent',
      ({ call }) => {
        call.stream.pressDigit('4');
        call.stream.pressDigit('#');
      },
    ],
    ['after the agent', ({ hangUp }) => hangUp()],
  ],
};

const TOOL_AND_END: Scene = {
  name: 'a look-up, and the agent’s end',
  answer: (last) => {
    if (!isBegun(last)) return { text: GREETING };
    if (last === 'found') return { text: 'It is free at noon.' };
    return last.includes('bye')
      ? { text: 'Goodbye then.', calls: [{ name: 'end_call' }] }
      : { text: 'I look. ', calls: [{ name: 'look_up' }] };
  },
  pathway: nodeWith({ tools: ['tool-1', 'end_call'] }),
  tools: [TOOL],
  acts: [
    ['after the agent', ({ speak }) => speak(3, 900)],
    [4000, () => undefined],
    ['after the agent', ({ say }) => say('bye', 400)],
  ],
};

const SILENCE: Scene = {
  name: 'silence',
  answer: () => ({ text: 'Yes?' }),
  pathway: nodeWith({ silence: { afterMs: 2000, prompts: ['Hello?'], hangupAfter: 1 } }),
  acts: [[8000, () => undefined]],
};

const transferScene = (transfer: 'fails' | 'works'): Scene => ({
  name: `a transfer that ${transfer}`,
  answer: (last) => {
    if (!isBegun(last)) return { text: 'Yes?' };
    return last.includes('person')
      ? { text: 'I connect you.', calls: [{ name: 'transfer_call', arguments: { to: TO } }] }
      : { text: 'As you like it.' };
  },
  pathway: nodeWith({ tools: ['transfer_call'] }),
  transfer,
  acts: [
    ['after the agent', ({ say }) => say('person', 500)],
    [5500, () => undefined],
    ['after the agent', ({ speak }) => speak(2, 600)],
    ['after the agent', ({ hangUp }) => hangUp()],
  ],
});

const MACHINE: Scene = {
  name: 'a machine',
  answer: () => ({ text: GREETING }),
  pathway: {
    nodes: [
      ...(ONE_NODE.nodes ?? []),
      { id: 'message', type: 'say', data: { title: 'Message', prompt: 'Please call us back.' } },
    ],
    edges: [{ id: 'e', source: 'start', target: 'message', data: { condition: { event: 'voicemail' } } }],
  },
  watchForMachines: true,
  acts: [
    [200, ({ say }) => say('please leave your message after the tone', 3500)],
    [9000, () => undefined],
  ],
};

const END_NODE: Scene = {
  name: 'a pathway to its end',
  answer: (last) => ({ text: isBegun(last) ? 'I wish you well. Goodbye.' : 'Are you well?' }),
  pathway: {
    nodes: [
      { id: 'start', type: 'start', data: { title: 'Ask', prompt: 'Ask.' } },
      { id: 'bye', type: 'end', data: { title: 'Bye', prompt: 'Say goodbye.' } },
    ],
    edges: [{ id: 'e', source: 'start', target: 'bye' }],
  },
  acts: [
    ['after the agent', ({ speak }) => speak(1, 400)],
    [5000, () => undefined],
  ],
};

export const SCENES: readonly Scene[] = [
  TALK,
  TOOL_AND_END,
  SILENCE,
  transferScene('fails'),
  transferScene('works'),
  MACHINE,
  END_NODE,
];
