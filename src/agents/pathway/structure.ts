import { type ErrorDetail, invalid } from '../../base/errors.ts';
import { jsonPointer } from '../../base/validation.ts';
import { checkExpression } from './expressions.ts';
import { canUseTools, nodeTemplates } from './graph.ts';
import { countTags, MAX_TAGS } from './liquid.ts';
import {
  ANY_NODE,
  type Condition,
  isEventCondition,
  isExpression,
  type PathwayEdge,
} from './schema/edgeSchema.ts';
import type { PathwayNode } from './schema/nodeSchema.ts';
import type { Pathway } from './schema/pathwaySchema.ts';
import { checkTemplate } from './templates.ts';

/** Tools that every project has. */
export const BUILT_IN_TOOLS = [
  'end_call',
  'transfer_call',
  'send_dtmf',
  'query_knowledgebase',
  'set_variable',
  'schedule_callback',
  'opt_out',
] as const;

export type StructureCode =
  | 'no_start_node'
  | 'several_start_nodes'
  | 'duplicate_id'
  | 'duplicate_tool'
  | 'unusable_tools'
  | 'unknown_node'
  | 'unknown_tool'
  | 'edge_into_start'
  | 'edge_out_of_end'
  | 'global_edge_without_condition'
  | 'global_fallback_edge'
  | 'template_error'
  | 'expression_error';

/** A reason why a graph cannot be saved. */
export interface StructureError extends ErrorDetail {
  /** Stable, snake_case; part of the API. */
  readonly code: StructureCode;
}

/** Names from outside the graph that it may refer to. */
export interface KnownNames {
  /** Ids of the project's own tools, without the built-in ones. */
  readonly toolIds: ReadonlySet<string>;
}

/** Checks the references within a graph. Only a graph without errors can be saved. */
export function checkStructure(pathway: Pathway, known: KnownNames): StructureError[] {
  const nodes = new Map(pathway.nodes.map((node) => [node.id, node]));
  return [
    ...checkStart(pathway.nodes),
    ...checkUnique(pathway.nodes, 'nodes'),
    ...checkUnique(pathway.edges, 'edges'),
    ...pathway.nodes.flatMap((node, index) => checkNode(node, known, ['nodes', index])),
    ...pathway.edges.flatMap((edge, index) => checkEdge(edge, nodes, known, ['edges', index])),
  ];
}

/** The part of {@link checkStructure} that may have changed since: tools are removed meanwhile. */
export function checkTools({ nodes, edges }: Pathway, known: KnownNames): StructureError[] {
  return [
    ...nodes.flatMap(({ data }, index) =>
      data.tools.flatMap((tool, place) =>
        isKnownTool(tool, known) ? [] : [unknownTool(tool, ['nodes', index, 'data', 'tools', place])],
      ),
    ),
    ...edges.flatMap(({ data }, index) =>
      checkResult(data.condition, known, ['edges', index, 'data', 'condition']),
    ),
  ];
}

/**
 * @throws {CallwayError} 400 with all errors as details; code and message are those of the first.
 */
export function requireValidStructure(errors: readonly StructureError[]): void {
  const [first] = errors;
  if (!first) return;
  const details = errors.map(({ path, message }) => ({ path, message }));
  throw invalid(first.code, first.message, details);
}

/** Checks one node. @param path - Path of the node in the document. */
export function checkNode(
  node: PathwayNode,
  known: KnownNames,
  path: readonly PropertyKey[] = [],
): StructureError[] {
  const toolErrors = node.data.tools.flatMap((tool, index) => {
    const toolPath = [...path, 'data', 'tools', index];
    if (node.data.tools.indexOf(tool) < index) {
      return [problem('duplicate_tool', toolPath, `tool ${quoted(tool)} is listed twice`)];
    }
    return isKnownTool(tool, known) ? [] : [unknownTool(tool, toolPath)];
  });
  const templates = nodeTemplates(node);
  const tagCount = templates.reduce((count, { template }) => count + countTags(template), 0);
  if (tagCount > MAX_TAGS) {
    const message = `the templates of a node may have at most ${MAX_TAGS} tags and outputs`;
    return [...toolErrors, problem('template_error', [...path, 'data'], message)];
  }
  const templateErrors = templates.flatMap(({ path: inner, template }) => {
    const objection = checkTemplate(template);
    return objection ? [problem('template_error', [...path, ...inner], objection)] : [];
  });
  return [...toolErrors, ...unusableTools(node, path), ...templateErrors];
}

function unusableTools({ type, data }: PathwayNode, path: readonly PropertyKey[]): StructureError[] {
  if (data.tools.length === 0 || canUseTools({ type })) return [];
  const message = `a ${type} node cannot use tools, since no model speaks there; remove them, or move them to a conversation node or a tool node`;
  return [problem('unusable_tools', [...path, 'data', 'tools'], message)];
}

/** Checks one edge. @param path - Path of the edge in the document. */
export function checkEdge(
  edge: PathwayEdge,
  nodes: ReadonlyMap<string, PathwayNode>,
  known: KnownNames,
  path: readonly PropertyKey[] = [],
): StructureError[] {
  return [
    ...checkEndpoints(edge, nodes, path),
    ...(edge.source === ANY_NODE ? checkGlobal(edge, [...path, 'data']) : []),
    ...checkCondition(edge, known, [...path, 'data', 'condition']),
  ];
}

function checkEndpoints(
  edge: PathwayEdge,
  nodes: ReadonlyMap<string, PathwayNode>,
  path: readonly PropertyKey[],
): StructureError[] {
  const errors: StructureError[] = [];
  for (const end of ['source', 'target'] as const) {
    if (nodes.has(edge[end]) || (end === 'source' && edge.source === ANY_NODE)) continue;
    errors.push(
      problem('unknown_node', [...path, end], `${end} ${quoted(edge[end])} is not a node of this pathway`),
    );
  }
  if (nodes.get(edge.source)?.type === 'end') {
    const message = `source ${quoted(edge.source)} is an end node, which cannot have outgoing edges`;
    errors.push(problem('edge_out_of_end', [...path, 'source'], message));
  }
  if (nodes.get(edge.target)?.type === 'start') {
    const message = `target ${quoted(edge.target)} is the start node, which cannot have incoming edges`;
    errors.push(problem('edge_into_start', [...path, 'target'], message));
  }
  return errors;
}

function checkGlobal({ data }: PathwayEdge, path: readonly PropertyKey[]): StructureError[] {
  if (data.condition === null) {
    const message =
      'an edge from every node (*) needs a condition; without one every node would be left at once';
    return [problem('global_edge_without_condition', [...path, 'condition'], message)];
  }
  if (!data.fallback) return [];
  const message = 'an edge from every node (*) goes before the edges of the node, and cannot be a fallback';
  return [problem('global_fallback_edge', [...path, 'fallback'], message)];
}

function checkCondition(
  edge: PathwayEdge,
  known: KnownNames,
  path: readonly PropertyKey[],
): StructureError[] {
  const { condition } = edge.data;
  if (isExpression(condition)) {
    return checkExpression(condition, path).map((detail) => ({ code: 'expression_error', ...detail }));
  }
  return checkResult(condition, known, path);
}

function checkResult(
  condition: Condition,
  known: KnownNames,
  path: readonly PropertyKey[],
): StructureError[] {
  if (!isEventCondition(condition) || condition.event !== 'tool_result') return [];
  const { tool } = condition;
  return tool === undefined || isKnownTool(tool, known) ? [] : [unknownTool(tool, [...path, 'tool'])];
}

function checkStart(nodes: readonly PathwayNode[]): StructureError[] {
  const starts = nodes.flatMap((node, index) => (node.type === 'start' ? [index] : []));
  if (starts.length === 0)
    return [problem('no_start_node', ['nodes'], 'a pathway needs one node of type start')];
  return starts
    .slice(1)
    .map((index) =>
      problem(
        'several_start_nodes',
        ['nodes', index, 'type'],
        'a pathway has one start node; this is another',
      ),
    );
}

function checkUnique(items: readonly { readonly id: string }[], list: 'nodes' | 'edges'): StructureError[] {
  const seen = new Set<string>();
  return items.flatMap(({ id }, index) => {
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    return [
      problem('duplicate_id', [list, index, 'id'], `id ${quoted(id)} is used by an earlier entry of ${list}`),
    ];
  });
}

function isKnownTool(tool: string, known: KnownNames): boolean {
  return known.toolIds.has(tool) || BUILT_IN_TOOLS.some((name) => name === tool);
}

function unknownTool(tool: string, path: readonly PropertyKey[]): StructureError {
  const builtIn = BUILT_IN_TOOLS.join(', ');
  return problem(
    'unknown_tool',
    path,
    `tool ${quoted(tool)} is neither a tool of this project nor a built-in tool (${builtIn})`,
  );
}

function problem(code: StructureCode, path: readonly PropertyKey[], message: string): StructureError {
  return { code, path: jsonPointer(path), message };
}

function quoted(name: string): string {
  return JSON.stringify(name);
}
