import { invalid } from '../base/errors.js';
import { jsonPointer } from '../base/validation.js';
import { isEventCondition, isExpression } from './edgeSchema.js';
import { checkExpression } from './expressions.js';
import { nodeTemplates } from './nodeTemplates.js';
import { checkTemplate } from './templates.js';
/** Tools that every project has. */
export const BUILT_IN_TOOLS = [
  'end_call',
  'transfer_call',
  'send_dtmf',
  'query_knowledgebase',
  'set_variable',
];
/** Checks what must hold between the parts of a graph for it to be saved. An empty list means that it may be. */
export function checkStructure(pathway, known) {
  const nodes = new Map(pathway.nodes.map((node) => [node.id, node]));
  return [
    ...checkStart(pathway.nodes),
    ...checkUnique(pathway.nodes, 'nodes'),
    ...checkUnique(pathway.edges, 'edges'),
    ...pathway.nodes.flatMap((node, index) => checkNode(node, known, ['nodes', index])),
    ...pathway.edges.flatMap((edge, index) => checkEdge(edge, nodes, known, ['edges', index])),
  ];
}
/**
 * @throws {CallwayError} Category `invalid` with all structure errors as details; the first gives code and message.
 */
export function requireSound(errors) {
  const [first] = errors;
  if (!first) return;
  const details = errors.map(({ path, message }) => ({ path, message }));
  throw invalid(first.code, first.message, details);
}
/** Checks one node by itself. @param path - Where the node stands in the document. */
export function checkNode(node, known, path = []) {
  const toolErrors = node.data.tools.flatMap((tool, index) => {
    const toolPath = [...path, 'data', 'tools', index];
    if (node.data.tools.indexOf(tool) < index) {
      return [problem('duplicate_tool', toolPath, `tool ${quoted(tool)} is listed twice; once is enough`)];
    }
    return isKnownTool(tool, known) ? [] : [unknownTool(tool, toolPath)];
  });
  const templateErrors = nodeTemplates(node).flatMap(({ path: inner, template }) => {
    const objection = checkTemplate(template);
    return objection ? [problem('template_error', [...path, ...inner], objection)] : [];
  });
  return [...toolErrors, ...templateErrors];
}
/** Checks one edge against the nodes around it. @param path - Where the edge stands in the document. */
export function checkEdge(edge, nodes, known, path = []) {
  return [...checkEnds(edge, nodes, path), ...checkCondition(edge, known, [...path, 'data', 'condition'])];
}
function checkEnds(edge, nodes, path) {
  const errors = [];
  for (const end of ['source', 'target']) {
    if (nodes.has(edge[end])) continue;
    errors.push(
      problem('unknown_node', [...path, end], `${end} ${quoted(edge[end])} is not a node of this pathway`),
    );
  }
  if (nodes.get(edge.source)?.type === 'end') {
    const message = `source ${quoted(edge.source)} is an end node, which no edge leaves`;
    errors.push(problem('edge_out_of_end', [...path, 'source'], message));
  }
  if (nodes.get(edge.target)?.type === 'start') {
    const message = `target ${quoted(edge.target)} is the start node, which no edge enters`;
    errors.push(problem('edge_into_start', [...path, 'target'], message));
  }
  return errors;
}
function checkCondition(edge, known, path) {
  const { condition } = edge.data;
  if (isExpression(condition)) {
    return checkExpression(condition, path).map((detail) => ({ code: 'expression_error', ...detail }));
  }
  if (!isEventCondition(condition) || condition.event !== 'tool_result') return [];
  const { tool } = condition;
  return tool === undefined || isKnownTool(tool, known) ? [] : [unknownTool(tool, [...path, 'tool'])];
}
function checkStart(nodes) {
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
function checkUnique(items, list) {
  const seen = new Set();
  return items.flatMap(({ id }, index) => {
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    return [
      problem(
        'duplicate_id',
        [list, index, 'id'],
        `id ${quoted(id)} is taken by an earlier one of the ${list}`,
      ),
    ];
  });
}
function isKnownTool(tool, known) {
  return known.toolIds.has(tool) || BUILT_IN_TOOLS.some((name) => name === tool);
}
function unknownTool(tool, path) {
  const builtIn = BUILT_IN_TOOLS.join(', ');
  return problem(
    'unknown_tool',
    path,
    `tool ${quoted(tool)} is neither a tool of this project nor built in (${builtIn})`,
  );
}
function problem(code, path, message) {
  return { code, path: jsonPointer(path), message };
}
function quoted(name) {
  return JSON.stringify(name);
}
