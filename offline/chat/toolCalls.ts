import { extractVariables, splitIdentifier } from './extract.ts';
import { type Clause, clausesWithMood, wishedVerb } from './mood.ts';
import { agreesTo, isUnsure, mocksOrAsksAgain, polarityOf, putsOff } from './polarity.ts';
import type { JsonObject, RuleRequest, Situation, Tool, VariableConfig } from './request.ts';
import { isSameTerm, type Term, termOverlap, termsOf } from './terms.ts';

/** A lower overlap is not a match. */
const MIN_SCORE = 0.3;
/** Names of tools that change nothing. */
const LOOK_UP = /^(?:get|find|look|lookup|check|search|query|list|fetch|show|read|track|calculate)(?![a-z])/;
/** Matches the end of a date's description. */
const ISO_DATE = / ?\(YYYY-MM-DD\)$/;
const ON_CONDITION = /\b(?:if|when|once|after|unless|until|only|as soon as)\b/i;
const FORBIDS = /\b(?:never|not|n't|without)\b/i;
/** Names of a single string parameter that takes the whole message. */
const FREE_TEXT = new Set(['query', 'question', 'text', 'message', 'q']);

export type ToolDecision =
  | { readonly kind: 'tool_call'; readonly name: string; readonly arguments: string }
  /** The tool matches, but an argument is missing. */
  | { readonly kind: 'ask'; readonly question: string };

/** Selects a tool that the node's prompt names or the user's message matches. */
export function chooseToolCall(
  { tools: offered = [], toolChoice = 'auto' }: RuleRequest,
  situation: Situation,
): ToolDecision | undefined {
  const { node, lastUserText: text = '' } = situation;
  if (toolChoice === 'none' || offered.length === 0) return undefined;
  if (typeof toolChoice === 'object') {
    const chosen = offered.find(({ name }) => name === toolChoice.name);
    return chosen && decideOn(chosen, situation, true);
  }
  const clauses = clausesWithMood(text);
  const allowed = offered.filter((tool) => !isAgainst(clauses, tool));
  const named = allowed.find((tool) => isCalledAt(tool, node?.prompt ?? '', clauses));
  const wish = named && decideOn(named, situation, false);
  if (wish) return wish;
  const [best] = allowed
    .map((tool) => ({ tool, score: scoreOf(tool, termsOf(wordsFor(tool, clauses))) }))
    .toSorted((one, other) => other.score - one.score);
  if (!best || (best.score < MIN_SCORE && toolChoice !== 'required')) return undefined;
  return decideOn(best.tool, situation, true);
}

/**
 * Returns true when the text refuses, stays open, or only asks. A question may still look something up, and another
 * time is an argument of a tool that takes one.
 */
function isAgainst(clauses: readonly Clause[], { name, parameters }: Tool): boolean {
  const text = clauses.map((clause) => clause.text).join('. ');
  const looksUp = LOOK_UP.test(name);
  if (clauses.some(({ mood }) => mood === 'open' || (mood === 'question' && !looksUp))) return true;
  if (isUnsure(text) || mocksOrAsksAgain(text) || polarityOf(text) === 'no') return true;
  return putsOff(text) && ![...propertiesOf(parameters).values()].some(takesTime);
}

function takesTime({ type, name, description }: VariableConfig): boolean {
  return type === 'date' || /date|time|day|when|slot/i.test(`${name} ${description}`);
}

/** Returns true when a prompt wants a tool called now. A tool that it ties to a condition waits for the user's yes. */
function isCalledAt({ name, description = '' }: Tool, prompt: string, clauses: readonly Clause[]): boolean {
  const task = prompt.split(/(?<=[.!?])\s+|\n+/).find((line) => line.split(/[^\w-]+/).includes(name));
  if (task === undefined || FORBIDS.test(task)) return false;
  if (!ON_CONDITION.test(task)) return true;
  return agreesTo(
    clauses.map(({ text }) => text).join('. '),
    `${prompt} ${description} ${splitIdentifier(name)}`,
  );
}

/** Returns the words of the clauses that can ask for a tool. Statements, and clauses with another verb, cannot. */
function wordsFor({ name }: Tool, clauses: readonly Clause[]): string {
  const [done] = termsOf(splitIdentifier(name));
  const meant = clauses.filter(({ mood, text }) => {
    if (LOOK_UP.test(name)) return true;
    const verb = wishedVerb(text);
    return mood !== 'statement' && (!verb || !done || isSameTerm(verb.word, done.word));
  });
  return meant.map(({ text }) => text).join('. ');
}

function scoreOf({ name, description = '' }: Tool, spoken: readonly Term[]): number {
  const byName = termOverlap(termsOf(splitIdentifier(name)), spoken);
  return Math.max(byName, termOverlap(termsOf(description), spoken));
}

/** @param mayAsk - True to ask for missing arguments; false to drop an incomplete call. */
function decideOn(
  tool: Tool,
  { node, lastUserText: text = '', today }: Situation,
  mayAsk: boolean,
): ToolDecision | undefined {
  const properties = propertiesOf(tool.parameters);
  const required = requiredOf(tool.parameters);
  const found: Record<string, unknown> = extractVariables([...properties.values()], {
    text,
    asked: node ? `${node.title}. ${node.prompt}` : '',
    today,
  });
  const [only] = required;
  if (required.length === 1 && only !== undefined && FREE_TEXT.has(only) && text !== '') found[only] = text;
  const missing = required.filter((name) => found[name] === null || found[name] === undefined);
  if (missing.length > 0) {
    if (!mayAsk) return undefined;
    const wanted = missing.map((name): VariableConfig => {
      return properties.get(name) ?? { name, type: 'string', description: '' };
    });
    return { kind: 'ask', question: questionFor(wanted) };
  }
  const given = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== null));
  return { kind: 'tool_call', name: tool.name, arguments: JSON.stringify(given) };
}

/** A question for the values of variables. */
export function questionFor(wanted: readonly VariableConfig[]): string {
  return `Could you tell me ${wanted.map(askedName).join(' and ')}?`;
}

function askedName({ name, description }: VariableConfig): string {
  const described = description.split(/[.,;(]/)[0]?.trim();
  const words = described || splitIdentifier(name).toLowerCase();
  return /^(?:the|a|an|your)\b/i.test(words)
    ? words.toLowerCase()
    : `the ${words.charAt(0).toLowerCase()}${words.slice(1)}`;
}

/** A tool's parameters as variables to extract, without objects and arrays. */
export function propertiesOf(schema: JsonObject | undefined): Map<string, VariableConfig> {
  const configs = Object.entries(recordOf(schema?.properties)).flatMap(([name, value]) => {
    const config = configOf(name, recordOf(value));
    return config ? [[name, config] as const] : [];
  });
  return new Map(configs);
}

function configOf(name: string, property: JsonObject): VariableConfig | undefined {
  const described = typeof property.description === 'string' ? property.description : '';
  const description = described.replace(ISO_DATE, '');
  const values = Array.isArray(property.enum)
    ? property.enum.filter((value) => typeof value === 'string')
    : [];
  if (values.length > 0) return { name, type: 'enum', description, values };
  const alternatives = Array.isArray(property.anyOf) ? property.anyOf.map((one) => recordOf(one).type) : [];
  const types = [property.type, ...alternatives].flat();
  if (types.includes('number') || types.includes('integer')) return { name, type: 'number', description };
  if (types.includes('boolean')) return { name, type: 'boolean', description };
  if (!types.includes('string')) return undefined;
  return {
    name,
    type: property.format === 'date' || description !== described ? 'date' : 'string',
    description,
  };
}

function requiredOf(schema: JsonObject | undefined): string[] {
  const required: unknown = schema?.required;
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
