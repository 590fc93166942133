import type { PathwayEdge } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { AgentRelease } from '../../agents/release.ts';
import type { ChatMessage } from '../../providers/ports/chatMessage.ts';
import type { ChatModel, ChatRequest } from '../../providers/ports/chatModel.ts';
import { askForJson, collectText, type UsageMeter } from './modelCalls.ts';
import { EXTRACT_PROMPT, type Render, routePrompt, SUMMARY_PROMPT } from './prompts.ts';
import { rehearsalOptions, type Situation } from './rehearsal.ts';
import { type Choice, extractAnswer, extractFormat, routeAnswer, routeFormat } from './structuredOutput.ts';
import { coerceVariable } from './variables.ts';

/** What every question to a model needs. */
export interface Asking {
  readonly model: ChatModel;
  readonly modelName: string;
  readonly meter: UsageMeter;
  readonly signal: AbortSignal;
  /** The stable prompt and the talk. */
  readonly talk: readonly ChatMessage[];
  readonly situation: Situation;
}

/** A way on, as models are shown it. */
export function toChoice({ id, data }: PathwayEdge): Choice {
  const sentence = typeof data.condition === 'string' ? data.condition : '';
  return { id, label: data.label || (sentence === '' ? 'none of the others holds' : ''), sentence };
}

/** Which of the choices holds; null for none. @throws {ModelError} */
export async function askForRoute(
  asking: Asking,
  node: PathwayNode,
  edges: readonly PathwayEdge[],
  render: Render,
): Promise<string | null> {
  const choices = edges.map(toChoice);
  const request: ChatRequest = {
    model: asking.modelName,
    messages: [...asking.talk, { role: 'system', content: routePrompt(node, edges, render) }],
    jsonSchema: routeFormat(choices),
    temperature: 0,
    purpose: 'route',
    ...rehearsalOptions({ ...asking.situation, choices }),
  };
  const { edge } = await askForJson(asking.model, request, routeAnswer, asking.meter, asking.signal);
  return edges.some(({ id }) => id === edge) ? edge : null;
}

/** The values that the talk gives, by name; only those that are of their type. @throws {ModelError} */
export async function askForVariables(
  asking: Asking,
  configs: NonNullable<AgentRelease['agent']['variableConfigs']>,
): Promise<ReadonlyMap<string, unknown>> {
  const request: ChatRequest = {
    model: asking.modelName,
    messages: [...asking.talk, { role: 'system', content: EXTRACT_PROMPT }],
    jsonSchema: extractFormat(configs),
    temperature: 0,
    purpose: 'extract',
    ...rehearsalOptions({ ...asking.situation, variableConfigs: configs }),
  };
  const answer = await askForJson(asking.model, request, extractAnswer, asking.meter, asking.signal);
  const found = configs.map((config) => [config.name, coerceVariable(config, answer[config.name])] as const);
  return new Map(found.filter(([, value]) => value !== undefined));
}

/** What the talk came to, in a few words. @throws {ModelError} */
export async function askForSummary(asking: Asking): Promise<string> {
  const request: ChatRequest = {
    model: asking.modelName,
    messages: [...asking.talk, { role: 'system', content: SUMMARY_PROMPT }],
    purpose: 'summarise',
    ...rehearsalOptions(asking.situation),
  };
  return await collectText(asking.model.stream(request, asking.signal), asking.meter);
}
