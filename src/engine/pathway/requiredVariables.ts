import type { AgentConfig } from '../../agents/agentConfig.ts';
import { type PathwayGraph, waitsForCaller } from '../../agents/pathway/graph.ts';
import { isNamedAt, templateNames } from '../../agents/pathway/namedVariables.ts';
import { ANY_NODE, type PathwayEdge } from '../../agents/pathway/schema/edgeSchema.ts';
import type { Variables } from '../../agents/pathway/templates.ts';

export type VariableConfig = NonNullable<AgentConfig['variableConfigs']>[number];

/** A customer who has not given a value after this many questions will not give it. */
const MAX_QUESTIONS = 2;

/** The required variables without a value. */
export function missingVariables(
  { variableConfigs }: AgentConfig,
  variables: Variables,
): readonly VariableConfig[] {
  return (variableConfigs ?? []).filter(({ name, required }) => {
    const value = variables[name];
    return required === true && (value === undefined || value === null || value === '');
  });
}

/** Returns the missing variables that were not yet asked for `MAX_QUESTIONS` times. */
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
  const namesOfTarget = new Set(target && !waitsForCaller(target) ? templateNames(target) : []);
  return missing.filter(
    ({ name }) =>
      (source && waitsForCaller(source) && isNamedAt(name, source, graph)) || namesOfTarget.has(name),
  );
}
