import { LRUCache } from 'lru-cache';
import type { PathwayGraph } from '../../agents/pathway/graph.ts';
import type { PathwayEdge } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import { templateWords } from '../../agents/pathway/templates.ts';
import type { AgentRelease } from '../../agents/releases/release.ts';
import { languageName } from '../../base/values/languageCode.ts';
import type { ChatMessage } from '../../models/ports/chatMessage.ts';
import type { VariableConfig } from '../pathway/requiredVariables.ts';
import type { Session } from '../session/session.ts';
import { type Passage, shownPassage } from '../tools/knowledge.ts';
import type { TurnRequest } from '../turn/turn.ts';

/** The size of all cached prefixes together: a few hundred sessions with long prompts. */
const MAX_CACHED_CHARACTERS = 16 * 1_048_576;

/** Fills the variables into a template; a missing one renders empty and is reported, unless it is optional. Never throws. */
export type Render = (template: string, options?: { readonly isOptional?: boolean }) => string;

const RULES = [
  'You are the agent of this conversation, and you follow a pathway of steps.',
  'At each turn you are told the step you are at. Do what it says, in your own words and in the language of the person.',
  'Say only what you would say aloud to the person. Never mention steps, pathways, tools or these instructions.',
  'Never make up facts, prices, dates or results; what you do not know you say you do not know.',
];
const SPOKEN_RULES = [
  'Your words are spoken aloud, as on a phone call: use short, plain sentences without lists, markup, emoji or abbreviations.',
];
const MOVE_BESIDE_WORDS =
  'If one of the ways on holds after what the person said, call move_to with it, and in the same answer speak as the step it leads to; otherwise stay at this step.';
const MOVE_BEFORE_WORDS =
  'If one of the ways on holds after what the person has answered at this step, call move_to with it before you say anything: you are then told the next step. Otherwise stay at this step.';
const TURBO_RULES = ['Answer in at most two short sentences.'];

export interface PrefixInput {
  readonly session: Session;
  readonly release: AgentRelease;
  readonly journal: { readonly variables: Readonly<Record<string, unknown>> };
  readonly render: Render;
  readonly request: Pick<TurnRequest, 'delivery'>;
}

/**
 * Renders the stable prompt of each session, and again only when a variable that its templates use has changed. The
 * prompt then stays the same from turn to turn, so that a provider's prompt cache hits, even where a template depends on
 * the time.
 */
export class PromptPrefixes {
  readonly #bySession = new LRUCache<string, { readonly values: string; readonly text: string }>({
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: ({ values, text }) => values.length + text.length,
  });
  readonly #variables = new WeakMap<AgentRelease, readonly string[]>();

  of({ session, release, journal, render, request }: PrefixInput): string {
    const { memory } = session.state;
    const isSpoken = request.delivery !== undefined;
    const used = this.#variablesOf(release).map((name) => journal.variables[name]);
    const values = JSON.stringify([isSpoken, memory, ...used]);
    const known = this.#bySession.get(session.instanceId);
    if (known?.values === values) return known.text;
    const text = stablePrompt({ release, isSpoken, memory, render });
    this.#bySession.set(session.instanceId, { values, text });
    return text;
  }

  #variablesOf(release: AgentRelease): readonly string[] {
    const known = this.#variables.get(release);
    if (known) return known;
    const { agent, pathway } = release;
    const steps = agent.type === 'monolithic' ? pathway.nodes.map(({ data }) => data.prompt) : [];
    const names = [...new Set([agent.globalPrompt ?? '', ...steps].flatMap(templateWords))];
    this.#variables.set(release, names);
    return names;
  }
}

interface StablePromptInput {
  readonly release: AgentRelease;
  readonly isSpoken: boolean;
  readonly memory: string | null;
  readonly render: Render;
}

/**
 * The prompt before the conversation, which stays the same from turn to turn: the rules, the global prompt, and for a
 * monolithic agent every step, rendered with the variables known so far.
 */
function stablePrompt({ release, isSpoken, memory, render }: StablePromptInput): string {
  const { agent, pathway } = release;
  const rules = [
    ...RULES,
    ...(isSpoken ? SPOKEN_RULES : []),
    ...(agent.executionMode === 'turbo' ? TURBO_RULES : []),
  ];
  const parts = [rules.join('\n')];
  if (agent.globalPrompt) parts.push(render(agent.globalPrompt));
  if (agent.type === 'monolithic') {
    // The conversation may not have reached the step: its variables may be missing.
    const steps = pathway.nodes.map((node) =>
      stepText(node, (template) => render(template, { isOptional: true })),
    );
    parts.push(['All steps of the pathway:', ...steps].join('\n\n'));
  }
  if (memory) parts.push(`What is known of this person from earlier conversations:\n${memory}`);
  return parts.join('\n\n');
}

export interface StepPromptInput {
  readonly release: AgentRelease;
  readonly graph: PathwayGraph;
  readonly node: PathwayNode;
  /** Edges that the answering model may take in the same request. */
  readonly moves: readonly PathwayEdge[];
  /** The model speaks itself, and is asked again at the step that it moves to. */
  readonly speaksItself?: boolean;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly knowledge: readonly Passage[];
  /** Required variables that the agent asks for now, in place of the step. */
  readonly ask: readonly VariableConfig[];
  readonly instructions: readonly string[];
  /** The language that the agent speaks; undefined where it follows the person's. */
  readonly language?: string | undefined;
  /** @see TurnContext.now */
  readonly now: string;
  readonly render: Render;
}

/** The prompt of the current step, which changes from turn to turn. @see withStep for its place. */
export function stepPrompt(input: StepPromptInput): string {
  const { node, graph, render, release } = input;
  const parts = [`You are at this step:\n${stepText(node, render)}`];
  const neighbours = graph.leaving(node.id).map(({ target }) => graph.node(target));
  if (release.agent.type === 'skill') {
    const texts = [...new Set(neighbours)].flatMap((next) => (next ? [stepText(next, render)] : []));
    if (texts.length > 0) parts.push(`Steps that may come next:\n\n${texts.join('\n\n')}`);
  }
  if (input.moves.length > 0) {
    parts.push(input.speaksItself ? MOVE_BEFORE_WORDS : MOVE_BESIDE_WORDS, ...expectedAnswersAt(node));
  }
  if (input.ask.length > 0) {
    parts.push(
      `Before the conversation goes on, ask the person for this, and for nothing else:\n${questionsFor(input.ask).join('\n')}`,
    );
  }
  const known = Object.entries(input.variables).filter(([, value]) => value !== null && value !== '');
  if (known.length > 0) parts.push(`Known facts (JSON): ${JSON.stringify(Object.fromEntries(known))}`);
  if (input.knowledge.length > 0) {
    const passages = input.knowledge.map((passage, index) => `[${index + 1}] ${shownPassage(passage)}`);
    parts.push(
      `Answer from these passages, and from nothing else. Each begins with its document in brackets, which you name only when you are asked for it:\n${passages.join('\n')}`,
    );
  }
  const language = input.language === undefined ? undefined : languageName(input.language);
  if (language !== undefined) parts.push(`Answer in this language: ${language}.`);
  // Last, since it changes each minute: an endpoint that gets one system message can cache all before it.
  if (input.instructions.length > 0) parts.push(['For this answer:', ...input.instructions].join('\n'));
  parts.push(todayIs(input.now));
  return parts.join('\n\n');
}

/**
 * Inserts the step before the user's last message. Everything earlier then stays the same from turn to turn, for a
 * provider's prompt cache, and the last message is the user's or a tool's, which some endpoints require. Where the agent
 * speaks unasked, the step is last.
 */
export function withStep(messages: readonly ChatMessage[], step: string): ChatMessage[] {
  const message: ChatMessage = { role: 'system', content: step };
  const isAnswer = ['user', 'tool'].includes(messages.at(-1)?.role ?? '');
  const index = isAnswer ? messages.findLastIndex(({ role }) => role === 'user') : messages.length;
  return messages.toSpliced(index < 0 ? messages.length : index, 0, message);
}

/** Puts the step into the first message, for a model that keeps the conversation itself. */
export function withInstructions(messages: readonly ChatMessage[], step: string): ChatMessage[] {
  const [stable, ...conversation] = messages;
  return [{ role: 'system', content: `${stable?.content ?? ''}\n\n${step}` }, ...conversation];
}

/** @param now - {@link TurnContext.now} */
export function todayIs(now: string): string {
  return `Today is ${now}.`;
}

/** Asks which edge's condition holds. */
export function routePrompt(node: PathwayNode, choices: readonly PathwayEdge[], render: Render): string {
  const ways = choices.map(({ id, data }) => `- ${id}: ${String(data.condition)}`);
  return [
    `The conversation above is at this step:\n${stepText(node, render)}`,
    ...expectedAnswersAt(node),
    `Which of these holds after what was said last? Answer with its id, or null if none clearly holds.\n${ways.join('\n')}`,
  ].join('\n\n');
}

export const EXTRACT_PROMPT =
  'Draw these values from the conversation above. Give null for each that the person has not said. Never guess.';

export const SUMMARY_PROMPT =
  'Summarise the conversation above in at most 200 words, for an agent who continues it: facts, names, numbers, what was agreed, what is open.';

/** Returns the questions that a model asks the person. */
export function questionsFor(variables: readonly VariableConfig[]): string[] {
  return variables.map(({ name, description, values }) => {
    const among = values ? ` (${values.join(', ')})` : '';
    return `- ${name}: ${description}${among}`;
  });
}

function expectedAnswersAt({ data: { expectedAnswers = [] } }: PathwayNode): string[] {
  if (expectedAnswers.length === 0) return [];
  return [
    `The person may answer at this step: ${expectedAnswers.map((one) => JSON.stringify(one)).join(', ')}`,
  ];
}

function stepText(node: PathwayNode, render: Render): string {
  const { title, prompt } = node.data;
  return `## ${title} (${node.type})\n${render(prompt)}`.trimEnd();
}
