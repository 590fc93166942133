import { jsonPointer, zodDetails } from '../../../base/validation.ts';
import type { CallLimits } from '../../accounts/callLimits.ts';
import { type AgentConfig, agentTemplates } from '../../agentConfig.ts';
import type { TransferTarget } from '../../transferTarget.ts';
import { canFinish, createGraph, type PathwayGraph } from '../graph.ts';
import type { PathwayEdge } from '../schema/edgeSchema.ts';
import { type Pathway, pathwaySchema } from '../schema/pathwaySchema.ts';
import { checkStructure, type KnownNames } from '../structure.ts';
import { checkTemplate } from '../templates.ts';
import { findBadCycles } from './cycles.ts';
import { type DeadEdge, findDeadEdges } from './deadEdges.ts';
import { findDeadEnds } from './deadEnds.ts';
import { findCutLines } from './interruptions.ts';
import type { Problem } from './problem.ts';
import { findProviderProblems, type KnownProviders } from './providers.ts';
import { findSilentEdges } from './silentEdges.ts';
import { findForbiddenTransfers, findToolProblems, findVanishedTools } from './toolUse.ts';
import { findUnaskedVariables, findUnknownCallMembers, findUnknownVariables } from './variables.ts';

export interface Review {
  /** True when no problem is an error. */
  readonly valid: boolean;
  readonly problems: readonly Problem[];
}

export interface Destinations {
  readonly limits: CallLimits;
  /** The project's numbers, for `ownCountriesOnly`. */
  readonly ownNumbers: readonly string[];
  /** The project's active ones. */
  readonly trunks: readonly {
    readonly id: string;
    readonly host: string;
    readonly port: number;
    readonly fromDomain: string | null;
  }[];
}

/** Returns why a project may not call a normalized target; undefined when it may. */
export type RefuseDestination = (destinations: Destinations, target: TransferTarget) => string | undefined;

export interface ReviewOptions extends KnownNames {
  /** Variables that are set outside of the pathway; without them, unknown variables are not reported. */
  readonly variables?: ReadonlySet<string>;
  /** Names of the project's tools by their id. */
  readonly toolNames?: ReadonlyMap<string, string>;
  /** The variables of the tools' `resultMapping` by the tool's id. */
  readonly toolVariables?: ReadonlyMap<string, readonly string[]>;
  /** The destinations that the project may call; when undefined, transfer targets are not reviewed. */
  readonly destinations?: Destinations | undefined;
  /** Ids of tools that their MCP servers no longer list. */
  readonly vanishedTools?: ReadonlySet<string>;
  /** The providers that are known; when undefined, choices of providers are not reviewed. */
  readonly providers?: KnownProviders;
  /** The agent, whose templates and required variables are reviewed too. */
  readonly agent?: AgentConfig;
}

/** Reviews any input. Never throws: violations of the schema are reported as problems. */
export function reviewInput(input: unknown, options: ReviewOptions, refuse?: RefuseDestination): Review {
  const parsed = pathwaySchema.safeParse(input);
  if (parsed.success) return reviewPathway(parsed.data, options, refuse);
  const problems = zodDetails(parsed.error).map(
    (detail): Problem => ({ severity: 'error', code: 'invalid_field', ...detail }),
  );
  return { valid: false, problems };
}

/** Finds errors that prevent saving, and problems that would occur in conversations. */
export function reviewPathway(pathway: Pathway, options: ReviewOptions, refuse?: RefuseDestination): Review {
  const graph = createGraph(pathway);
  const deadEdges = [...findDeadEdges(graph), ...findSilentEdges(graph)];
  const { variables, toolNames = new Map(), toolVariables = new Map() } = options;
  const { vanishedTools = new Set(), agent, providers, destinations } = options;
  // What the endpoint answers before the start is not known here.
  const isComplete = variables && !agent?.beforeStartConfig;
  const problems = [
    ...checkStructure(pathway, options).map((error): Problem => ({ severity: 'error', ...error })),
    ...reviewPaths(graph, deadEdges, locatorOf(pathway)),
    ...findVanishedTools(pathway, vanishedTools, toolNames),
    ...(isComplete ? findUnknownVariables(pathway, { known: variables, toolNames, toolVariables }) : []),
    ...findUnknownCallMembers(pathway),
    ...(destinations && refuse
      ? findForbiddenTransfers(pathway, agent, (target) => refuse(destinations, target))
      : []),
    ...(agent ? [...findUnaskedVariables(graph, agent.variableConfigs), ...reviewAgent(agent)] : []),
    ...(agent && providers ? findProviderProblems(pathway, agent, providers) : []),
  ].map((problem) => withId(problem, pathway));
  return { valid: problems.every((problem) => problem.severity !== 'error'), problems };
}

/** Adds the id of the node or the edge that the path leads into. */
function withId(problem: Problem, { nodes, edges }: Pathway): Problem {
  const [, list, index = ''] = problem.path.split('/');
  const id = (list === 'nodes' ? nodes : list === 'edges' ? edges : [])[Number(index || 'none')]?.id;
  if (id === undefined) return problem;
  return { ...problem, ...(list === 'nodes' ? { nodeId: id } : { edgeId: id }) };
}

/** Templates that were saved before they were checked. */
function reviewAgent(agent: AgentConfig): Problem[] {
  return agentTemplates(agent).flatMap(({ path, template }): Problem[] => {
    const message = checkTemplate(template);
    return message === undefined
      ? []
      : [{ severity: 'error', code: 'template_error', message, path: jsonPointer(['agent', ...path]) }];
  });
}

/** JSON pointer of a node or an edge; by identity, since ids may repeat in an invalid graph. */
type Locate = (item: object) => string;

function locatorOf(pathway: Pathway): Locate {
  const pointers = new Map<object, string>();
  for (const [index, node] of pathway.nodes.entries()) pointers.set(node, jsonPointer(['nodes', index]));
  for (const [index, edge] of pathway.edges.entries()) pointers.set(edge, jsonPointer(['edges', index]));
  return (item) => pointers.get(item) ?? '';
}

/** Problems of the paths that a conversation can take. */
function reviewPaths(graph: PathwayGraph, deadEdges: readonly DeadEdge[], locate: Locate): Problem[] {
  const dead = new Set(deadEdges.map(({ edge }) => edge));
  const liveEdges = (nodeId: string) => graph.outgoing(nodeId).filter((edge) => !dead.has(edge));
  const liveLeaving = (nodeId: string) => graph.leaving(nodeId).filter((edge) => !dead.has(edge));
  return [
    ...deadEdges.map(
      ({ edge, code, message }): Problem => ({ severity: 'warning', code, message, path: locate(edge) }),
    ),
    ...reviewReachability(graph, liveLeaving, locate),
    ...reviewReturns(graph, locate),
    ...[
      ...findDeadEnds(graph, liveEdges),
      ...findBadCycles(graph, liveEdges),
      ...findCutLines(graph, liveEdges),
      ...findToolProblems(graph),
    ].map(({ node, ...rest }): Problem => ({ ...rest, path: locate(node) })),
  ];
}

/** Reports `returns` on nodes that no global edge reaches: only a global edge remembers where it came from. */
function reviewReturns(graph: PathwayGraph, locate: Locate): Problem[] {
  const targets = new Set(graph.globalEdges.map(({ target }) => target));
  return graph.nodes
    .filter(({ id, data }) => data.returns === true && !targets.has(id))
    .map((node) => {
      const name = JSON.stringify(node.data.title);
      const message = `no global edge (source *) leads to ${name}, so that returns has no effect; add one, or remove returns`;
      return { severity: 'warning', code: 'returns_without_global_edge', message, path: locate(node) };
    });
}

function reviewReachability(
  graph: PathwayGraph,
  liveEdges: (nodeId: string) => readonly PathwayEdge[],
  locate: Locate,
): Problem[] {
  if (!graph.start) return [];
  const reached = reachableFrom(graph.start.id, liveEdges);
  const problems = graph.nodes
    .filter((node) => !reached.has(node.id))
    .map(
      (node): Problem => ({
        severity: 'warning',
        code: 'unreachable_node',
        message: `${JSON.stringify(node.data.title)} cannot be reached from the start node`,
        path: locate(node),
      }),
    );
  const finishing = graph.nodes.filter(canFinish);
  if (finishing.some((node) => reached.has(node.id))) return problems;
  const [code, message] =
    finishing.length === 0
      ? ([
          'no_end_node',
          'no node ends the conversation; add an end node, or the tool end_call to a node',
        ] as const)
      : ([
          'no_end_reachable',
          'no node that ends the conversation can be reached from the start node',
        ] as const);
  return [...problems, { severity: 'warning', code, message, path: '/nodes' }];
}

function reachableFrom(start: string, edges: (nodeId: string) => readonly PathwayEdge[]): Set<string> {
  const reached = new Set([start]);
  // Iteration over a set includes entries that are added meanwhile.
  for (const id of reached) for (const edge of edges(id)) reached.add(edge.target);
  return reached;
}
