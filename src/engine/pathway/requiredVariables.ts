import type { AgentConfig } from '../../agents/agentConfig.ts';
import { expressionVariables } from '../../agents/pathway/expressions.ts';
import { nodeTemplates, type PathwayGraph, waitsForCaller } from '../../agents/pathway/graph.ts';
import { ANY_NODE, isExpression, type PathwayEdge } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import { templateVariables, type Variables } from '../../agents/pathway/templates.ts';

export type VariableConfig = NonNullable<AgentConfig['variableConfigs']>[number];

/** A customer who has not given a value after this many questions will not give it. */
const MAX_QUESTIONS = 2;

/** The required variables without a value. */
export function missingVariables(
  { variableConfigs }: Pick<AgentConfig, 'variableConfigs'>,
  variables: Variables,
): readonly VariableConfig[] {
  return (variableConfigs ?? []).filter(({ name, required }) => {
    const value = variables[name];
    return required === true && (value === undefined || value === null || value === '');
  });
}

/** Without those that were asked for often enough. */
export function stillToAsk(
  missing: readonly VariableConfig[],
  asked: Readonly<Record<string, number>>,
): readonly VariableConfig[] {
  return missing.filter(({ name }) => (asked[name] ?? 0) < MAX_QUESTIONS);
}

/**
 * The missing variables that the customer is asked for before an edge is taken: those that the node names which is left,
 * those that the target needs for its line or its tool, and before the end all of them.
 *
 * A global edge leaves its node for a while: only its target counts.
 */
export function dueBefore(
  missing: readonly VariableConfig[],
  edge: PathwayEdge,
  graph: PathwayGraph,
): readonly VariableConfig[] {
  if (missing.length === 0) return missing;
  const target = graph.node(edge.target);
  if (target?.type === 'end' || (target?.type === 'tool' && target.data.tools.includes('end_call')))
    return missing;
  const source = edge.source === ANY_NODE ? undefined : graph.node(edge.source);
  return missing.filter(
    ({ name }) =>
      (source && waitsForCaller(source) && isNamedAt(name, source, graph)) ||
      (target && !waitsForCaller(target) && templateNames(target).includes(name)),
  );
}

/** The variables that a node's templates read. */
export function templateNames(node: PathwayNode): readonly string[] {
  return nodeTemplates(node).flatMap(({ template }) => namesIn(template));
}

/** Whether a node's texts, or the conditions of its edges, name a variable. */
function isNamedAt(name: string, node: PathwayNode, graph: PathwayGraph): boolean {
  const edges = graph.outgoing(node.id).map(({ data }) => data.condition);
  const sentences = edges.filter((condition) => typeof condition === 'string');
  const words = wordsOf(name);
  return (
    templateNames(node).includes(name) ||
    edges.some((condition) => isExpression(condition) && expressionVariables(condition).includes(name)) ||
    [node.data.title, node.data.prompt, ...sentences].some((text) => words.test(text))
  );
}

/** Matches `orderNumber` as a prompt writes it: in one word, or as `order number`. */
function wordsOf(name: string): RegExp {
  const parts = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .split('_')
    .filter((part) => part !== '');
  return new RegExp(`(?<![\\p{L}\\p{N}])${parts.join('[\\s_-]*') || name}(?![\\p{L}\\p{N}])`, 'iu');
}

function namesIn(template: string): readonly string[] {
  try {
    return templateVariables(template);
  } catch {
    // Rendering the malformed template reports it.
    return [];
  }
}
