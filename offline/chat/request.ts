/** A question for the rule model. */
export interface RuleRequest {
  /** The purpose. Default: `answer`. */
  readonly purpose?: Purpose;
  readonly messages: readonly Message[];
  readonly tools?: readonly Tool[];
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string };
  readonly situation?: Situation;
}

/**
 * `route`, `extract` and `judge` ask for JSON, `answer` and `summarise` for prose, `answer_and_route` for prose or a move,
 * `persona` for the words of a caller.
 */
type Purpose = 'answer' | 'route' | 'answer_and_route' | 'extract' | 'judge' | 'summarise' | 'persona';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
}

export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** The JSON Schema of an object. */
  readonly parameters?: JsonObject;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** The facts behind the request, since rules do not read prompts. Templates in it are already rendered. */
export interface Situation {
  /** The pathway's current node; a judge and a summary need none. */
  readonly node?: SituationNode;
  /** Edges that may be taken from the node, in the pathway's order. */
  readonly choices?: readonly Choice[];
  /** Name of the tool that takes an edge; its argument is `{edge}`. */
  readonly moveTool?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** The variables to extract. */
  readonly variableConfigs?: readonly VariableConfig[];
  /** Variables to ask the user for, and nothing else. */
  readonly ask?: readonly VariableConfig[];
  /** The user's last message; absent before the first one. */
  readonly lastUserText?: string;
  /** Phrases that the user may say at this node. */
  readonly expectedAnswers?: readonly string[];
  /** The retrieved passages, best first. */
  readonly knowledge?: readonly string[];
  readonly criteria?: readonly Criterion[];
  /** The caller to play. */
  readonly persona?: Persona;
  /** The conversation's local date as `YYYY-MM-DD`, for words such as "tomorrow". */
  readonly today?: string;
}

export interface SituationNode {
  readonly id: string;
  readonly title: string;
  readonly prompt: string;
  /** The pathway's node type, such as `conversation`. */
  readonly type: string;
}

export interface Choice {
  readonly id: string;
  readonly label: string;
  /** The edge's condition as a sentence; empty for an unconditional edge. */
  readonly sentence: string;
}

export interface Persona {
  readonly prompt: string;
  readonly goal?: string | undefined;
  /** The caller's facts by name. */
  readonly facts?: Readonly<Record<string, unknown>> | undefined;
  /** A sentence that says when the caller hangs up. */
  readonly hangUpWhen?: string | undefined;
  /** The text after the caller's last words. */
  readonly hangUp: string;
  /** Selects among words of the same meaning. */
  readonly seed: number;
}

export interface Criterion {
  readonly name: string;
  readonly description: string;
}

export interface VariableConfig {
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean' | 'date' | 'enum';
  readonly description: string;
  /** The values of an enum. */
  readonly values?: readonly string[] | undefined;
}
