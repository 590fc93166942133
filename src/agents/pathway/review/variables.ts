import { jsonPointer } from '../../../base/validation.ts';
import type { AgentConfig } from '../../agentConfig.ts';
import { ANNOUNCE_VARIABLES } from '../../transferOptions.ts';
import { expressionVariables } from '../expressions.ts';
import { canUseTools, nodeTemplates, type PathwayGraph, waitsForCaller } from '../graph.ts';
import { isNamedAt, namesIn } from '../namedVariables.ts';
import { isExpression } from '../schema/edgeSchema.ts';
import type { PathwayNode } from '../schema/nodeSchema.ts';
import type { Pathway } from '../schema/pathwaySchema.ts';
import type { Problem } from './problem.ts';

/** Variables of every session. */
const SESSION_VARIABLES = ['call', 'channel', 'language'];
const ANNOUNCED: ReadonlySet<string> = new Set(ANNOUNCE_VARIABLES);

/**
 * Finds variables that templates and conditions read and nothing sets. None are found where the model may set any.
 *
 * @param known - Variables that are set outside of the pathway.
 * @param toolNames - By the id of the project's tools.
 */
export function findUnknownVariables(
  pathway: Pathway,
  known: ReadonlySet<string>,
  toolNames: ReadonlyMap<string, string>,
): Problem[] {
  if (pathway.nodes.some(letsModelSetVariables)) return [];
  const set = new Set([...known, ...SESSION_VARIABLES, ...pathway.nodes.flatMap(setsOf(toolNames))]);
  const unknown = (names: readonly string[], path: readonly PropertyKey[]) =>
    names
      .filter((name) => !set.has(name))
      .map(
        (name): Problem => ({
          severity: 'warning',
          code: 'unknown_variable',
          message: `nothing here sets the variable ${JSON.stringify(name)}, which is empty unless the session starts with it; add it to variableConfigs, or give it by dynamicVariables or beforeStartConfig`,
          path: jsonPointer(path),
        }),
      );
  const inNodes = pathway.nodes.flatMap((node, index) =>
    nodeTemplates(node).flatMap(({ path, template }) =>
      unknown(
        namesIn(template).filter((name) => !(path.at(-1) === 'announce' && ANNOUNCED.has(name))),
        ['nodes', index, ...path],
      ),
    ),
  );
  const inEdges = pathway.edges.flatMap((edge, index) => {
    const { condition } = edge.data;
    if (!isExpression(condition)) return [];
    return unknown(expressionVariables(condition), ['edges', index, 'data', 'condition']);
  });
  return [...inNodes, ...inEdges];
}

/** Finds required variables that no step which waits for the caller asks for. */
export function findUnaskedVariables(
  graph: PathwayGraph,
  variableConfigs: AgentConfig['variableConfigs'],
): Problem[] {
  const asking = graph.nodes.filter(waitsForCaller);
  return (variableConfigs ?? [])
    .filter(({ name, required }) => required && !asking.some((node) => isNamedAt(name, node, graph)))
    .map(({ name }) => ({
      severity: 'warning',
      code: 'required_variable_not_asked',
      message: `no step asks for the required variable ${JSON.stringify(name)}, so that it is asked for at the end only; name it in the prompt of a conversation node`,
      path: '/nodes',
    }));
}

function letsModelSetVariables(node: PathwayNode): boolean {
  return node.type !== 'tool' && canUseTools(node) && node.data.tools.includes('set_variable');
}

/** The variables that a node sets: by `set_variable`, or with the result of its tool. */
function setsOf(toolNames: ReadonlyMap<string, string>) {
  return (node: PathwayNode): string[] => {
    if (node.type !== 'tool') return [];
    const [tool = ''] = node.data.tools;
    if (tool !== 'set_variable') return [toolNames.get(tool) ?? tool];
    const name = node.data.arguments?.name;
    return typeof name === 'string' ? [name] : [];
  };
}
