import { jsonPointer } from '../../../base/validation.ts';
import type { PathwayGraph } from '../graph.ts';
import { isEventCondition, type PathwayEdge } from '../schema/edgeSchema.ts';
import type { PathwayNode } from '../schema/nodeSchema.ts';
import type { Pathway } from '../schema/pathwaySchema.ts';
import { BUILT_IN_TOOLS } from '../structure.ts';
import type { DeadEndProblem } from './deadEnds.ts';
import type { Problem } from './problem.ts';

type BuiltInTool = (typeof BUILT_IN_TOOLS)[number];

/** The arguments that a built-in tool needs. */
const ARGUMENTS: Readonly<Record<BuiltInTool, readonly string[]>> = {
  end_call: [],
  transfer_call: ['to'],
  send_dtmf: ['digits'],
  query_knowledgebase: ['query'],
  set_variable: ['name', 'value'],
  schedule_callback: ['atLocalTime'],
};

const OPTIONAL_ARGUMENTS: Partial<Record<BuiltInTool, readonly string[]>> = {
  schedule_callback: ['reason'],
};

/** Finds transfers without an edge for their failure, and tool nodes whose built-in tool cannot run as it is given. */
export function findToolProblems(graph: PathwayGraph): DeadEndProblem[] {
  return graph.nodes.flatMap((node) => [
    ...unhandledTransfer(node, graph.leaving(node.id)),
    ...wrongArguments(node),
  ]);
}

function unhandledTransfer(node: PathwayNode, edges: readonly PathwayEdge[]): DeadEndProblem[] {
  const transfers =
    node.type === 'transfer' || (node.type === 'tool' && node.data.tools[0] === 'transfer_call');
  if (!transfers || edges.some(followsFailure)) return [];
  const name = JSON.stringify(node.data.title);
  const message = `${name} has no edge for a transfer that fails, after which the caller is back and the conversation stays there; add an edge with the condition {"event": "tool_result", "ok": false}`;
  return [{ node, severity: 'warning', code: 'transfer_without_failure_edge', message }];
}

function followsFailure({ data: { condition } }: PathwayEdge): boolean {
  if (condition === null) return true;
  return isEventCondition(condition) && condition.event === 'tool_result' && condition.ok !== true;
}

function wrongArguments(node: PathwayNode): DeadEndProblem[] {
  if (node.type !== 'tool') return [];
  const tool = BUILT_IN_TOOLS.find((name) => name === node.data.tools[0]);
  if (!tool) return [];
  const given = Object.keys(node.data.arguments ?? {});
  const missing = ARGUMENTS[tool].filter((name) => !given.includes(name));
  const known = [...ARGUMENTS[tool], ...(OPTIONAL_ARGUMENTS[tool] ?? [])];
  const unknown = given.filter((name) => !known.includes(name));
  if (missing.length === 0 && unknown.length === 0) return [];
  const name = JSON.stringify(node.data.title);
  const needed = ARGUMENTS[tool].join(' and ') || 'no arguments';
  const message = `${name} runs ${tool}, which takes ${needed}; correct its arguments`;
  return [{ node, severity: 'warning', code: 'wrong_arguments', message }];
}

/** Finds nodes that name a tool which its MCP server no longer lists: a model is not offered it, and a call fails. */
export function findVanishedTools(
  { nodes }: Pathway,
  vanished: ReadonlySet<string>,
  toolNames: ReadonlyMap<string, string>,
): Problem[] {
  return nodes.flatMap((node, index) =>
    node.data.tools.flatMap((id, place): Problem[] => {
      if (!vanished.has(id)) return [];
      const title = JSON.stringify(node.data.title);
      const message = `${title} names the tool ${toolNames.get(id) ?? id}, which its MCP server no longer lists; remove it, or bring it back on the server`;
      const path = jsonPointer(['nodes', index, 'data', 'tools', place]);
      return [{ severity: 'error', code: 'vanished_tool', message, path }];
    }),
  );
}
