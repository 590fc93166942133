/** A question for the rule model: the part of a chat request that it reads. */
export interface RuleRequest {
  /** The purpose. Default: `answer`. */
  readonly purpose?: Purpose;
  readonly messages: readonly Message[];
  readonly tools?: readonly Tool[] | undefined;
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string };
  /** Requests a JSON document of this schema. */
  readonly jsonSchema?: { readonly name: string; readonly schema: JsonObject };
  /** Its `seed` selects among words of the same meaning. */
  readonly passthrough?: JsonObject;
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

/** What a request says of the conversation's place on its pathway. */
export interface Situation {
  /** The pathway's current node; a judge and a summary need none. */
  readonly node?: SituationNode | undefined;
  /** Edges that may be taken from the node, in the pathway's order. */
  readonly choices?: readonly Choice[];
  /** The variables to extract. */
  readonly variableConfigs?: readonly VariableConfig[];
  /** Variables to ask the user for, and nothing else. */
  readonly ask?: readonly VariableConfig[] | undefined;
  /** The user's last message; undefined before the first one. */
  readonly lastUserText?: string | undefined;
  /** The agent's words that the user's last message answers. */
  readonly asked?: string;
  /** Phrases that the user may say at this node. */
  readonly expectedAnswers?: readonly string[];
  /** The best retrieved passage. */
  readonly passage?: string | undefined;
  /** What a judge is asked for: criteria that are met or not, criteria with a score, how the conversation ended, data. */
  readonly criteria?: readonly Criterion[] | undefined;
  readonly scored?: readonly Criterion[] | undefined;
  readonly dispositions?: readonly Criterion[] | undefined;
  readonly data?: JsonObject | undefined;
  readonly wantsSummary?: boolean;
  /** The caller to play. */
  readonly persona?: Persona | undefined;
  /** The conversation's local date as `YYYY-MM-DD`, for words such as "tomorrow". */
  readonly today?: string | undefined;
}

export interface SituationNode {
  readonly title: string;
  readonly prompt: string;
  /** The pathway's node type, such as `conversation`. */
  readonly type: string;
}

/** An edge, with its condition as a sentence. */
export interface Choice {
  readonly id: string;
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
