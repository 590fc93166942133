import type { VariableConfig } from './variableConfig.ts';

/**
 * What a request is about, beside its prompt, for a model that does not read prompts. Every text in it is final:
 * templates are filled.
 */
export interface Situation {
  /** What is asked for; protocol.ts has the form of each answer. */
  readonly kind: 'answer' | 'route' | 'answer_and_route' | 'extract' | 'judge' | 'summarise';
  /** Where in the pathway the conversation is; a judge and a summariser need none. */
  readonly node?: SituationNode;
  /** The ways on from here, in the pathway's order. */
  readonly choices?: readonly Choice[];
  readonly variables?: Readonly<Record<string, unknown>>;
  /** The variables to draw from the talk. */
  readonly variableConfigs?: readonly VariableConfig[];
  /** What the person said last; absent before they said anything. */
  readonly lastUserText?: string;
  /** Phrases that a person may say at this node. */
  readonly expectedAnswers?: readonly string[];
  /** Passages that were found for what the person said, best first. */
  readonly knowledge?: readonly string[];
  /** What a judge is to look for. */
  readonly criteria?: readonly Criterion[];
  /** The conversation's day where the agent is, as `YYYY-MM-DD`, for words such as "tomorrow". */
  readonly today?: string;
}

export interface SituationNode {
  readonly id: string;
  readonly title: string;
  readonly prompt: string;
  /** The pathway's node type, such as `conversation`. */
  readonly type: string;
}

/** One way on from a node. */
export interface Choice {
  readonly id: string;
  readonly label: string;
  /** When to take it, as a sentence; empty for an edge without a condition. */
  readonly sentence: string;
}

/** One thing that a finished conversation is judged by. */
export interface Criterion {
  readonly name: string;
  readonly description: string;
}
