import { MarkerType } from '@xyflow/react';

import { COLON, textsIn } from '../../../texts.ts';
import { lookOf } from '../nodeTypes.ts';
import type { ChangeKind } from '../pathway/differences.ts';
import { type Finding, type Findings, worst } from '../pathway/findings.ts';
import { ANY_NODE, type Graph, type GraphNode, titleOf } from '../pathway/graph.ts';
import { describeEdge, type LineEdge } from './PathwayEdgeLine.tsx';
import type { AnyNodeCardNode, CardNode } from './PathwayNodeCard.tsx';

export type FlowNode = CardNode | AnyNodeCardNode;

/** How many came by a node or an edge. */
export interface Traffic {
  readonly text: string;
  /** Of the most that came by one of them, 0 to 1. */
  readonly share: number;
}

/** How a pathway is shown, beside what it is. */
export interface Look {
  readonly findings: Findings;
  readonly marks: ReadonlyMap<string, ChangeKind>;
  /** By id; undefined where it is not shown. */
  readonly traffic: ReadonlyMap<string, Traffic> | undefined;
  readonly selected: ReadonlySet<string>;
  readonly activeNodeId: string | undefined;
  readonly isEditable: boolean;
}

/** For screen readers, in place of the library's. */
const roles = textsIn({ en: { node: 'node', edge: 'edge' }, 'zh-TW': { node: '節點', edge: '連線' } });
const NO_FINDINGS: readonly Finding[] = [];
const ANY_NODE_GAP = 60;
const ANY_NODE_WIDTH = 140;

/** The canvas's nodes. @param previous - Those of the last time; what has not changed stays the same object. */
export function flowNodes(graph: Graph, look: Look, previous: readonly FlowNode[]): FlowNode[] {
  const before = new Map(previous.map((node) => [node.id, node]));
  const cards = graph.nodes.map((node) => card(node, look, before.get(node.id)));
  return graph.edges.some(({ source }) => source === ANY_NODE)
    ? [...cards, anyNode(graph, before.get(ANY_NODE))]
    : cards;
}

export function flowEdges(
  graph: Graph,
  look: Look,
  onSelect: ((id: string) => void) | undefined,
): LineEdge[] {
  const titles = new Map(graph.nodes.map((node) => [node.id, titleOf(node)]));
  const lanes = lanesOf(graph);
  const global = graph.edges.filter(({ source }) => source === ANY_NODE);
  return graph.edges.map((edge) => ({
    id: edge.id,
    type: 'line',
    source: edge.source,
    target: edge.target,
    selected: look.selected.has(edge.id),
    ariaLabel: describeEdge(edge, titles),
    domAttributes: { 'aria-roledescription': roles.edge },
    markerEnd: {
      type: MarkerType.ArrowClosed,
      width: 18,
      height: 18,
      color: 'var(--edge)',
      // An edge that many have taken is wide, its arrow is not.
      ...(look.traffic && { markerUnits: 'userSpaceOnUse' }),
    },
    data: {
      edge,
      lane: lanes.get(edge.id) ?? 0,
      globalIndex: edge.source === ANY_NODE ? global.indexOf(edge) : undefined,
      severity: worst(look.findings.get(edge.id) ?? NO_FINDINGS),
      mark: look.marks.get(edge.id),
      traffic: look.traffic?.get(edge.id),
      onSelect,
    },
  }));
}

function card(node: GraphNode, look: Look, before: FlowNode | undefined): CardNode {
  const data = {
    node,
    findings: look.findings.get(node.id) ?? NO_FINDINGS,
    mark: look.marks.get(node.id),
    traffic: look.traffic?.get(node.id),
    isActive: node.id === look.activeNodeId,
    isConnectable: look.isEditable,
  };
  const selected = look.selected.has(node.id);
  if (before?.type === 'card') {
    const { position } = before;
    const isPlaced = position.x === node.position.x && position.y === node.position.y;
    const isSameData = Object.entries(data).every(([key, value]) => value === Reflect.get(before.data, key));
    if (isPlaced && isSameData && before.selected === selected) return before;
  }
  return {
    ...(before?.type === 'card' ? before : {}),
    id: node.id,
    type: 'card',
    position: node.position,
    data,
    selected,
    ariaLabel: lookOf(node.type).name + COLON + titleOf(node),
    domAttributes: { 'aria-roledescription': roles.node },
  };
}

/** Above the others; it has no place of its own in the pathway. */
function anyNode({ nodes }: Graph, before: FlowNode | undefined): AnyNodeCardNode {
  const x = Math.min(...nodes.map(({ position }) => position.x)) - ANY_NODE_WIDTH - ANY_NODE_GAP;
  const y = Math.min(...nodes.map(({ position }) => position.y));
  const kept = before?.type === 'any' ? before : {};
  const fixed = { draggable: false, selectable: false, focusable: false, deletable: false };
  return { ...kept, ...fixed, id: ANY_NODE, type: 'any', position: { x, y }, data: {} };
}

/** Edges between the same two nodes lie beside each other. */
function lanesOf({ edges }: Graph): ReadonlyMap<string, number> {
  const groups = new Map<string, string[]>();
  for (const { id, source, target } of edges) {
    const ends = JSON.stringify([source, target]);
    groups.set(ends, [...(groups.get(ends) ?? []), id]);
  }
  const lanes = [...groups.values()].flatMap((ids) =>
    ids.map((id, index) => [id, index - (ids.length - 1) / 2] as const),
  );
  return new Map(lanes);
}
