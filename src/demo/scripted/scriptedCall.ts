import type { Scenario } from '../scenario.ts';

/** Published latencies of streaming vendors: after the caller's last sound, and of the first token and the first sample. */
export const LATENCIES = { eagerEndMs: 160, endMs: 260, firstTokenMs: 250, firstSampleMs: 120 } as const;

/**
 * The callee's lines in turn, and the model's answers, of which the first is the greeting. No commas: a pause there
 * ends a turn.
 */
export const CALLEE_LINES = ['Yes please keep it.', 'A birthday cake please.'] as const;
export const ANSWERS = [
  'Hello Ada, this is Luna. Would you like to keep your table for two, tomorrow at seven?',
  'Wonderful. Is there anything special that we can prepare for you, such as a birthday cake, a high chair, or a quiet table?',
  'One birthday cake, with pleasure. Goodbye, Ada.',
] as const;

/** A scenario with one node, so that each turn is one request to the model. */
export const SCRIPTED_SCENARIO: Scenario = {
  agent: {
    agent: { name: 'Luna’s assistant' },
    tools: [],
    pathway: {
      nodes: [
        {
          id: 'start',
          type: 'start',
          data: {
            title: 'Keep the table',
            prompt: 'Ask whether the table is kept, then what to prepare, and say goodbye.',
            tools: ['end_call'],
          },
        },
      ],
      edges: [],
    },
  },
  callee: {
    kind: 'answers',
    afterMs: 700,
    script: [
      { do: 'listen', quietMs: 500 },
      { do: 'say', text: CALLEE_LINES[0] },
      { do: 'interrupt', afterMs: 2000, text: CALLEE_LINES[1] },
    ],
    stays: true,
  },
};
