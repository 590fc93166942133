import type { BehaviourInput } from '../testing/simulator/script.ts';
import { type DemoAgent, readDemoAgent } from './agents/demoAgent.ts';

/** The parties of the simulated call. */
export const CALLEE_NUMBER = '+886912345678';
export const AGENT_NUMBER = '+886223456789';
export const CALLEE_NAME = 'Ada';

/** One call: the agent's task, and the simulated callee. */
export interface Scenario {
  readonly agent: DemoAgent;
  readonly callee: BehaviourInput;
}

const KEEP = 'Yes, keep it.';
const WISH = 'A birthday cake, please.';

/** The simulated callee: listens, answers, interrupts the second question, and repeats both answers when asked to. */
const CALLEE: BehaviourInput = {
  kind: 'answers',
  afterMs: 700,
  script: [
    // Longer than a gap within the greeting, which a slow machine's synthesis may have.
    { do: 'listen', quietMs: 2000 },
    { do: 'say', text: KEEP },
    { do: 'interrupt', afterMs: 2000, text: WISH, repeat: KEEP },
    // Longer than the agent takes to hang up once it has understood.
    { do: 'listen', quietMs: 2000 },
    { do: 'say', text: WISH },
  ],
  stays: true,
};

/** The restaurant asks whether the table is kept and what to prepare for the guest. */
export async function restaurantScenario(): Promise<Scenario> {
  return { agent: await readDemoAgent('restaurant'), callee: CALLEE };
}
