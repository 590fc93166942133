import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { Tool } from '../../../src/agents/tool.ts';
import type { ScriptedAnswer } from '../../support/scriptedModel.ts';
import { ONE_NODE, type SimulatedCall } from '../support/simulatedCall.ts';
import type { WordCaller } from './wordSpeech.ts';

/** What an act of a scene may do. */
export interface Stage {
  readonly call: SimulatedCall;
  readonly caller: WordCaller;
  /** Says this many unique words. */
  speak(words: number, durationMs: number): void;
  say(text: string, durationMs: number): void;
  hangUp(): void;
}

/** When the next act starts: relative to the agent's speech, or after this many milliseconds. */
type Cue = 'after the agent' | 'over the agent' | number;

export interface Scene {
  readonly name: string;
  /** The model's answer to the request's last message; empty before the first one. */
  readonly answer: (last: string) => ScriptedAnswer;
  readonly acts: readonly (readonly [Cue, (stage: Stage) => void])[];
  readonly pathway: PathwayInput;
  readonly tools?: readonly Tool[];
  readonly detectAnsweringMachine?: boolean;
  /** The outcome of a requested transfer. */
  readonly transfer?: 'fails' | 'works';
}

const GREETING = 'Hello there. What can I do?';
const TO = '+886212345678';
/** Duration of the tool call. */
export const TOOL_MS = 2500;

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

const hasStarted = (last: string) => last !== '';

/** The agent greets, is asked, is interrupted, and gets digits; the caller hangs up. */
const CONVERSATION: Scene = {
  name: 'a conversation',
  answer: (last) => ({
    text: hasStarted(last) ? 'Let me see about it. That may take some time today.' : GREETING,
  }),
  pathway: ONE_NODE,
  acts: [
    ['after the agent', ({ speak }) => speak(3, 900)],
    ['after the agent', ({ speak }) => speak(2, 600)],
    ['over the agent', ({ speak }) => speak(4, 1000)],
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
  name: 'a tool call and end_call',
  answer: (last) => {
    if (!hasStarted(last)) return { text: GREETING };
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
    if (!hasStarted(last)) return { text: 'Yes?' };
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
  name: 'an answering machine',
  answer: () => ({ text: GREETING }),
  pathway: {
    nodes: [
      ...(ONE_NODE.nodes ?? []),
      { id: 'message', type: 'say', data: { title: 'Message', prompt: 'Please call us back.' } },
    ],
    edges: [{ id: 'e', source: 'start', target: 'message', data: { condition: { event: 'voicemail' } } }],
  },
  detectAnsweringMachine: true,
  acts: [
    [200, ({ say }) => say('please leave your message after the tone', 3500)],
    [9000, () => undefined],
  ],
};

const END_NODE: Scene = {
  name: 'an end node',
  answer: (last) => ({ text: hasStarted(last) ? 'I wish you well. Goodbye.' : 'Are you well?' }),
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
  CONVERSATION,
  TOOL_AND_END,
  SILENCE,
  transferScene('fails'),
  transferScene('works'),
  MACHINE,
  END_NODE,
];
