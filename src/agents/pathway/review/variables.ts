import { jsonPointer } from '../../../base/validation.ts';
import type { AgentConfig } from '../../agentConfig.ts';
import { ANNOUNCE_VARIABLES } from '../../transferOptions.ts';
import { expressionPaths } from '../expressions.ts';
import { canUseTools, nodeTemplates, type PathwayGraph, waitsForCaller } from '../graph.ts';
import { isNamedAt, pathsIn } from '../namedVariables.ts';
import { isExpression } from '../schema/edgeSchema.ts';
import type { PathwayNode } from '../schema/nodeSchema.ts';
import type { Pathway } from '../schema/pathwaySchema.ts';
import type { Problem } from './problem.ts';

const SESSION_VARIABLES = ['call', 'channel', 'language'];
/** A message names at most this many places. */
const MAX_NAMED_PLACES = 5;
/** Matches the marks between a variable and its members: `order.items[0]`. */
const MEMBER = /[.[]/;
const ANNOUNCED: ReadonlySet<string> = new Set(ANNOUNCE_VARIABLES);

/** The members of `call`. */
const CALL_MEMBERS = ['direction', 'fromNumber', 'toNumber', 'callId', 'trunkId'];

/** Variables that the project sets outside of its pathway. */
export interface VariableSources {
  /** Variables of the agent, the numbers and the trunks. */
  readonly known: ReadonlySet<string>;
  /** Names by the id of the project's tools. */
  readonly toolNames: ReadonlyMap<string, string>;
  /** The variables of a tool's `resultMapping`, by the tool's id. */
  readonly toolVariables: ReadonlyMap<string, readonly string[]>;
}

/**
 * Finds variables that templates and conditions read and nothing sets, one finding a variable, at the first place that
 * reads it. None are found where the model may set any.
 */
export function findUnknownVariables(pathway: Pathway, sources: VariableSources): Problem[] {
  if (pathway.nodes.some(letsModelSetVariables)) return [];
  const set = new Set([...sources.known, ...SESSION_VARIABLES, ...pathway.nodes.flatMap(setsOf(sources))]);
  const reads = readsOf(pathway).map(({ name, path }) => ({ name: name.split(MEMBER, 1)[0] ?? '', path }));
  return byName(reads.filter(({ name }) => !set.has(name))).map(({ name, paths }) => ({
    severity: 'warning',
    code: 'unknown_variable',
    message: `nothing here sets the variable ${JSON.stringify(name)}, which is empty unless the session starts with it; add it to variableConfigs, or give it by dynamicVariables or beforeStartConfig${others(paths)}`,
    path: paths[0] ?? '',
  }));
}

/** Finds members of `call` that no call has. */
export function findUnknownCallMembers(pathway: Pathway): Problem[] {
  const unknown = readsOf(pathway).filter(({ name }) => {
    const [variable, member] = name.split('.');
    return variable === 'call' && member !== undefined && !CALL_MEMBERS.includes(member);
  });
  return byName(unknown).map(({ name, paths }) => ({
    severity: 'warning',
    code: 'unknown_variable',
    message: `no call has the variable ${JSON.stringify(name)}; the members of call are ${CALL_MEMBERS.join(', ')}${others(paths)}`,
    path: paths[0] ?? '',
  }));
}

/** A variable, with its members as in `call.fromNumber`, and where it is read. */
interface Read {
  readonly name: string;
  readonly path: string;
}

function readsOf({ nodes, edges }: Pathway): Read[] {
  const inNodes = nodes.flatMap((node, index) =>
    nodeTemplates(node).flatMap(({ path, template }) =>
      pathsIn(template)
        .filter((name) => !(path.at(-1) === 'announce' && ANNOUNCED.has(name)))
        .map((name) => ({ name, path: jsonPointer(['nodes', index, ...path]) })),
    ),
  );
  const inEdges = edges.flatMap(({ data: { condition } }, index) =>
    (isExpression(condition) ? expressionPaths(condition) : []).map((name) => ({
      name,
      path: jsonPointer(['edges', index, 'data', 'condition']),
    })),
  );
  return [...inNodes, ...inEdges];
}

function byName(reads: readonly Read[]): { readonly name: string; readonly paths: readonly string[] }[] {
  const names = [...new Set(reads.map(({ name }) => name))];
  return names.map((name) => ({
    name,
    paths: [...new Set(reads.filter((read) => read.name === name).map(({ path }) => path))],
  }));
}

function others(paths: readonly string[]): string {
  const more = paths.slice(1, 1 + MAX_NAMED_PLACES);
  if (more.length === 0) return '';
  const rest = paths.length - 1 - more.length;
  return `; also read at ${more.join(', ')}${rest > 0 ? ` and ${rest} more places` : ''}`;
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

/** The variables that a node sets: by `set_variable`, with the result of its tool, or from what a tool answers. */
function setsOf({ toolNames, toolVariables }: VariableSources) {
  return (node: PathwayNode): string[] => {
    const mapped = node.data.tools.flatMap((tool) => toolVariables.get(tool) ?? []);
    if (node.type !== 'tool') return canUseTools(node) ? mapped : [];
    const [tool = ''] = node.data.tools;
    if (tool !== 'set_variable') return [toolNames.get(tool) ?? tool, ...mapped];
    const name = node.data.arguments?.name;
    return typeof name === 'string' ? [name] : [];
  };
}
