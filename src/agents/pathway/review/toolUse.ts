import { z } from 'zod';

import { jsonPointer } from '../../../base/validation.ts';
import type { AgentConfig } from '../../agentConfig.ts';
import {
  TRANSFER_OUTCOMES,
  type TransferOutcome,
  transferFields,
  unusedOptions,
} from '../../transferOptions.ts';
import {
  readTransferTarget,
  type TransferTarget,
  targetWithTrunk,
  toTransferTarget,
} from '../../transferTarget.ts';
import type { PathwayGraph } from '../graph.ts';
import { isEventCondition, type PathwayEdge } from '../schema/edgeSchema.ts';
import type { PathwayNode } from '../schema/nodeSchema.ts';
import type { Pathway } from '../schema/pathwaySchema.ts';
import { BUILT_IN_TOOLS } from '../structure.ts';
import type { DeadEndProblem } from './deadEnds.ts';
import type { Problem } from './problem.ts';

type BuiltInTool = (typeof BUILT_IN_TOOLS)[number];

/** The arguments that a built-in tool needs; of a list, one. */
const ARGUMENTS: Readonly<Record<BuiltInTool, readonly (string | readonly string[])[]>> = {
  end_call: [],
  transfer_call: [['to', 'targets']],
  send_dtmf: ['digits'],
  query_knowledgebase: ['query'],
  set_variable: ['name', 'value'],
  schedule_callback: ['atLocalTime'],
  opt_out: [],
};

const OPTIONAL_ARGUMENTS: Partial<Record<BuiltInTool, readonly string[]>> = {
  transfer_call: Object.keys(transferFields),
  schedule_callback: ['reason'],
  opt_out: ['reason'],
};

/** The arguments of a tool node may be anything. */
const givenTarget = targetWithTrunk(z.string());

/** Finds transfers without an edge for their failure or with options that have no effect, and tool nodes whose built-in tool cannot run as it is given. */
export function findToolProblems(graph: PathwayGraph): DeadEndProblem[] {
  return graph.nodes.flatMap((node) => [
    ...unhandledTransfer(node, graph.leaving(node.id)),
    ...optionsWithoutEffect(node),
    ...wrongArguments(node),
  ]);
}

function unhandledTransfer(node: PathwayNode, edges: readonly PathwayEdge[]): DeadEndProblem[] {
  const transfers =
    node.type === 'transfer' || (node.type === 'tool' && node.data.tools[0] === 'transfer_call');
  if (!transfers || edges.some(followsFailure)) return [];
  const missing = TRANSFER_OUTCOMES.filter((outcome) => !edges.some((edge) => followsOutcome(edge, outcome)));
  if (missing.length === 0) return [];
  const name = JSON.stringify(node.data.title);
  const which = missing.length === TRANSFER_OUTCOMES.length ? 'fails' : `ends as ${missing.join(' or ')}`;
  const message = `${name} has no edge for a transfer that ${which}, after which the caller is back and the conversation stays there; add an edge with the condition {"event": "transfer"}`;
  return [{ node, severity: 'warning', code: 'transfer_without_failure_edge', message }];
}

function followsFailure({ data: { condition } }: PathwayEdge): boolean {
  if (condition === null) return true;
  return isEventCondition(condition) && condition.event === 'tool_result' && condition.ok !== true;
}

function followsOutcome({ data: { condition } }: PathwayEdge, outcome: TransferOutcome): boolean {
  if (!isEventCondition(condition) || condition.event !== 'transfer') return false;
  return condition.outcome === undefined || condition.outcome === outcome;
}

function optionsWithoutEffect(node: PathwayNode): DeadEndProblem[] {
  if (node.type !== 'transfer') return [];
  const name = JSON.stringify(node.data.title);
  return unusedOptions(node.data).map(({ message }) => ({
    node,
    severity: 'warning',
    code: 'transfer_option_unused',
    message: `${name}: ${message}`,
  }));
}

function wrongArguments(node: PathwayNode): DeadEndProblem[] {
  if (node.type !== 'tool') return [];
  const tool = BUILT_IN_TOOLS.find((name) => name === node.data.tools[0]);
  if (!tool) return [];
  const given = Object.keys(node.data.arguments ?? {});
  const required = ARGUMENTS[tool].map((one) => [one].flat());
  const known = [...required.flat(), ...(OPTIONAL_ARGUMENTS[tool] ?? [])];
  const isComplete = required.every((names) => names.some((name) => given.includes(name)));
  if (isComplete && given.every((name) => known.includes(name))) return [];
  const name = JSON.stringify(node.data.title);
  const needed = required.map((names) => names.join(' or ')).join(' and ') || 'no arguments';
  const message = `${name} runs ${tool}, which takes ${needed}; correct its arguments`;
  return [{ node, severity: 'warning', code: 'wrong_arguments', message }];
}

/** Finds transfers to a fixed target that the project's limits forbid. @param refuse - Says why a normalized target may not be called. */
export function findForbiddenTransfers(
  { nodes }: Pathway,
  agent: AgentConfig | undefined,
  refuse: (target: TransferTarget) => string | undefined,
): Problem[] {
  const fixed = nodes.flatMap((node, index) =>
    transferTargetsOf(node).map(({ path, target }) => ({
      path: jsonPointer(['nodes', index, 'data', ...path]),
      target,
    })),
  );
  const lastResort = agent?.notUnderstood?.transferTo;
  if (lastResort !== undefined)
    fixed.push({ path: '/agent/notUnderstood/transferTo', target: toTransferTarget(lastResort) });
  const listed = (agent?.transferTargets ?? []).map((one, index) => ({
    path: `/agent/transferTargets/${index}`,
    target: toTransferTarget(one),
  }));
  return [...fixed, ...listed].flatMap(({ path, target: { to: given, trunkId } }): Problem[] => {
    const to = readTransferTarget(given);
    const reason = to === undefined ? undefined : refuse({ to, trunkId });
    if (reason === undefined) return [];
    const message = `the project may not call ${JSON.stringify(given)}, so that this transfer fails: ${reason}; change that, or the target`;
    return [{ severity: 'warning', code: 'transfer_target_forbidden', message, path }];
  });
}

/** The targets of a node's transfer, as they are written; {@link readTransferTarget} reads no template. */
function transferTargetsOf(
  node: PathwayNode,
): { readonly path: readonly PropertyKey[]; readonly target: TransferTarget }[] {
  const isTool = node.type === 'tool' && node.data.tools[0] === 'transfer_call';
  if (node.type !== 'transfer' && !isTool) return [];
  const {
    to,
    targets,
    trunkId: common,
  }: { to?: unknown; targets?: unknown; trunkId?: unknown } = node.type === 'tool'
    ? { ...node.data.arguments }
    : { ...node.data };
  const base = isTool ? ['arguments'] : [];
  const list: readonly unknown[] = Array.isArray(targets) ? targets : [];
  return [
    { path: [...base, 'to'], given: to },
    ...list.map((one, index) => ({ path: [...base, 'targets', index], given: one })),
  ].flatMap(({ path, given }) => {
    const read = givenTarget.safeParse(given);
    if (!read.success) return [];
    const target = toTransferTarget(read.data);
    return [
      {
        path,
        target: {
          to: target.to,
          trunkId: target.trunkId ?? (typeof common === 'string' ? common : undefined),
        },
      },
    ];
  });
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
