import { extractVariables, splitIdentifier } from './extract.ts';
import type { JsonObject, RuleRequest, Tool, VariableConfig } from './request.ts';
import { type Term, termOverlap, termsOf } from './terms.ts';

/** Below this the person's words have too little to do with the tool. */
const LEAST_SCORE = 0.3;
/** A tool's one string of these names takes all that the person said. */
const FREE_TEXT = new Set(['query', 'question', 'text', 'message', 'q']);

export type ToolDecision =
  | { readonly kind: 'tool_call'; readonly name: string; readonly arguments: string }
  /** The tool fits, but the person has not told all that it needs. */
  | { readonly kind: 'ask'; readonly question: string };

/** Decides whether a tool is to be called: one that the node's prompt, or the person, speaks of. */
export function chooseToolCall(request: RuleRequest, text: string): ToolDecision | undefined {
  const { tools = [], toolChoice = 'auto', situation } = request;
  const offered = tools.filter(({ name }) => name !== situation?.moveTool);
  if (toolChoice === 'none' || offered.length === 0) return undefined;
  const prompt = situation?.node?.prompt ?? '';
  if (typeof toolChoice === 'object') {
    const chosen = offered.find(({ name }) => name === toolChoice.name);
    return chosen && decideOn(chosen, text, request, true);
  }
  const promptWords = new Set(prompt.split(/[^\w-]+/));
  const named = offered.find(({ name }) => promptWords.has(name));
  const wish = named && decideOn(named, text, request, false);
  if (wish) return wish;
  const spoken = termsOf(text);
  const [best] = offered
    .map((tool) => ({ tool, score: scoreOf(tool, spoken) }))
    .toSorted((one, other) => other.score - one.score);
  if (!best || (best.score < LEAST_SCORE && toolChoice !== 'required')) return undefined;
  return decideOn(best.tool, text, request, true);
}

function scoreOf({ name, description = '' }: Tool, spoken: readonly Term[]): number {
  const byName = termOverlap(termsOf(splitIdentifier(name)), spoken);
  return Math.max(byName, termOverlap(termsOf(description), spoken));
}

/** @param mayAsk - Whether to ask for what is missing; else a tool that lacks something is not called. */
function decideOn(tool: Tool, text: string, request: RuleRequest, mayAsk: boolean): ToolDecision | undefined {
  const properties = propertiesOf(tool.parameters);
  const required = requiredOf(tool.parameters);
  const { node, today } = request.situation ?? {};
  const found: Record<string, unknown> = extractVariables([...properties.values()], {
    text,
    ...(node ? { node } : {}),
    ...(today === undefined ? {} : { today }),
  });
  const [only] = required;
  if (required.length === 1 && only !== undefined && FREE_TEXT.has(only) && text !== '') found[only] = text;
  const missing = required.filter((name) => found[name] === null || found[name] === undefined);
  if (missing.length > 0) {
    const wanted = missing.map((name) => askedName(name, properties.get(name)));
    return mayAsk ? { kind: 'ask', question: `Could you tell me ${wanted.join(' and ')}?` } : undefined;
  }
  const given = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== null));
  return { kind: 'tool_call', name: tool.name, arguments: JSON.stringify(given) };
}

function askedName(name: string, config: VariableConfig | undefined): string {
  const described = config?.description.split(/[.,;(]/)[0]?.trim();
  const words = described || splitIdentifier(name).toLowerCase();
  return /^(?:the|a|an|your)\b/i.test(words)
    ? words.toLowerCase()
    : `the ${words.charAt(0).toLowerCase()}${words.slice(1)}`;
}

/** The arguments of a tool as variables to be drawn from the talk; those of other shapes than one value are left out. */
function propertiesOf(schema: JsonObject | undefined): Map<string, VariableConfig> {
  const configs = Object.entries(recordOf(schema?.properties)).flatMap(([name, value]) => {
    const config = configOf(name, recordOf(value));
    return config ? [[name, config] as const] : [];
  });
  return new Map(configs);
}

function configOf(name: string, property: JsonObject): VariableConfig | undefined {
  const description = typeof property.description === 'string' ? property.description : '';
  const values = Array.isArray(property.enum)
    ? property.enum.filter((value) => typeof value === 'string')
    : [];
  if (values.length > 0) return { name, type: 'enum', description, values };
  const types = [property.type].flat();
  if (types.includes('number') || types.includes('integer')) return { name, type: 'number', description };
  if (types.includes('boolean')) return { name, type: 'boolean', description };
  if (!types.includes('string')) return undefined;
  return { name, type: property.format === 'date' ? 'date' : 'string', description };
}

function requiredOf(schema: JsonObject | undefined): string[] {
  const required: unknown = schema?.required;
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
