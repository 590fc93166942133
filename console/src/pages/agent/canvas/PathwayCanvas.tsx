import '@xyflow/react/dist/style.css';

import { useComputedColorScheme } from '@mantine/core';
import {
  applyNodeChanges,
  Background,
  type Connection,
  Controls,
  type EdgeChange,
  MiniMap,
  type NodeChange,
  ReactFlow,
  ReactFlowProvider,
  useStore,
} from '@xyflow/react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';

import { textsIn } from '../../../texts.ts';
import { lookOf } from '../nodeTypes.ts';
import type { ChangeKind } from '../pathway/differences.ts';
import type { Findings } from '../pathway/findings.ts';
import type { Graph, Position } from '../pathway/graph.ts';
import classes from './canvas.module.css';
import { type FlowNode, flowEdges, flowNodes, type Traffic } from './flowParts.ts';
import { type LineEdge, PathwayEdgeLine } from './PathwayEdgeLine.tsx';
import { AnyNodeCard, PathwayNodeCard } from './PathwayNodeCard.tsx';

const NODE_COMPONENTS = { card: PathwayNodeCard, any: AnyNodeCard };
const EDGE_COMPONENTS = { line: PathwayEdgeLine };
/** Of a pathway that is seen whole. */
export const FIT = { padding: 0.15, maxZoom: 1 };
/** Below it a prompt cannot be read. */
const READABLE_ZOOM = 0.45;
/** Smaller pathways are seen whole. */
const MINIMAP_FROM_NODES = 15;

const labels = textsIn({
  en: {
    'node.a11yDescription.default': 'Enter selects a node, the arrow keys move it, Delete removes it.',
    'node.a11yDescription.keyboardDisabled': 'Enter selects a node.',
    'node.a11yDescription.ariaLiveMessage': ({ x, y }: Position) => `Moved to ${x}, ${y}`,
    'edge.a11yDescription.default': 'Enter selects an edge, Delete removes it.',
    'controls.ariaLabel': 'View',
    'controls.zoomIn.ariaLabel': 'Zoom in',
    'controls.zoomOut.ariaLabel': 'Zoom out',
    'controls.fitView.ariaLabel': 'Show all',
    'minimap.ariaLabel': 'Overview',
    'handle.ariaLabel': 'Connection',
  },
  'zh-TW': {
    'node.a11yDescription.default': 'Enter 選取節點，方向鍵移動，Delete 移除。',
    'node.a11yDescription.keyboardDisabled': 'Enter 選取節點。',
    'node.a11yDescription.ariaLiveMessage': ({ x, y }: Position) => `已移到 ${x}, ${y}`,
    'edge.a11yDescription.default': 'Enter 選取連線，Delete 移除。',
    'controls.ariaLabel': '檢視',
    'controls.zoomIn.ariaLabel': '放大',
    'controls.zoomOut.ariaLabel': '縮小',
    'controls.fitView.ariaLabel': '顯示全部',
    'minimap.ariaLabel': '概覽',
    'handle.ariaLabel': '連接點',
  },
});

/** What the user does to the pathway on its canvas. */
export interface CanvasEdits {
  connect(source: string, target: string): void;
  /** @param isDrag - Else by the arrow keys. */
  move(positions: ReadonlyMap<string, Position>, isDrag: boolean): void;
}

export interface PathwayCanvasProps {
  readonly graph: Graph;
  /** Where a conversation is now. */
  readonly activeNodeId?: string | undefined;
  readonly findings?: Findings;
  readonly marks?: ReadonlyMap<string, ChangeKind>;
  /** Of nodes and edges, by id. */
  readonly traffic?: ReadonlyMap<string, Traffic>;
  readonly selected?: ReadonlySet<string>;
  /** Without it nothing can be selected. @param change - Of the ids that are selected. */
  onSelect?(change: (selected: ReadonlySet<string>) => ReadonlySet<string>): void;
  /** Without it the pathway is only shown. */
  readonly edits?: CanvasEdits | undefined;
  readonly children?: ReactNode;
}

const NO_FINDINGS: Findings = new Map();
const NO_MARKS: ReadonlyMap<string, ChangeKind> = new Map();
const NONE_SELECTED: ReadonlySet<string> = new Set();

/** A pathway to look at, for pages that do not edit it. Fills its parent, which needs a height. */
export function PathwayView(props: Omit<PathwayCanvasProps, 'edits' | 'onSelect'>) {
  return (
    <ReactFlowProvider>
      <PathwayCanvas {...props} />
    </ReactFlowProvider>
  );
}

/** The canvas; its provider is the caller's. */
export function PathwayCanvas({
  graph,
  activeNodeId,
  findings = NO_FINDINGS,
  marks = NO_MARKS,
  traffic,
  selected = NONE_SELECTED,
  onSelect,
  edits,
  children,
}: PathwayCanvasProps) {
  const scheme = useComputedColorScheme('light');
  const isEditable = edits !== undefined;
  const isSelectable = onSelect !== undefined;
  const isFar = useStore(({ transform: [, , zoom] }) => zoom < READABLE_ZOOM);
  const isDrag = useRef(false);
  const look = useMemo(
    () => ({ findings, marks, traffic, selected, activeNodeId, isEditable }),
    [findings, marks, traffic, selected, activeNodeId, isEditable],
  );
  const [nodes, setNodes] = useState<FlowNode[]>(() => flowNodes(graph, look, []));
  useEffect(() => setNodes((previous) => flowNodes(graph, look, previous)), [graph, look]);
  const edges = useMemo(
    () => flowEdges(graph, look, onSelect && ((id) => onSelect(() => new Set([id])))),
    [graph, look, onSelect],
  );

  const select = (changes: readonly (NodeChange<FlowNode> | EdgeChange<LineEdge>)[]) => {
    const picks = changes.filter((change) => change.type === 'select');
    if (picks.length === 0) return;
    onSelect?.((before) => {
      const next = new Set(before);
      for (const pick of picks) pick.selected ? next.add(pick.id) : next.delete(pick.id);
      return next;
    });
  };
  const onNodesChange = (changes: NodeChange<FlowNode>[]) => {
    setNodes((previous) => applyNodeChanges(changes.filter(isOfView), previous));
    const placed = changes.flatMap((change) =>
      change.type === 'position' && change.position && !change.dragging
        ? [[change.id, change.position] as const]
        : [],
    );
    if (placed.length > 0) {
      edits?.move(new Map(placed), isDrag.current);
      isDrag.current = false;
    }
    select(changes);
  };
  return (
    <ReactFlow<FlowNode, LineEdge>
      className={`${classes.canvas} ${isFar ? classes.far : ''}`}
      colorMode={scheme}
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_COMPONENTS}
      edgeTypes={EDGE_COMPONENTS}
      ariaLabelConfig={labels}
      onNodesChange={onNodesChange}
      onEdgesChange={select}
      onNodeDragStart={() => {
        isDrag.current = true;
      }}
      onConnect={({ source, target }: Connection) => edits?.connect(source, target)}
      nodesDraggable={isEditable}
      nodesConnectable={isEditable}
      elementsSelectable={isSelectable}
      nodesFocusable={isSelectable}
      edgesFocusable={isSelectable}
      deleteKeyCode={null}
      multiSelectionKeyCode={['Meta', 'Control', 'Shift']}
      selectionKeyCode="Shift"
      // From afar most are visible: to add and remove those at the border costs more than to keep them.
      onlyRenderVisibleElements={!isFar}
      snapToGrid
      snapGrid={[20, 20]}
      minZoom={0.1}
      fitView
      fitViewOptions={FIT}
      proOptions={{ hideAttribution: true }}
    >
      {!isFar && <Background gap={20} />}
      <Controls showInteractive={false} fitViewOptions={FIT} />
      {graph.nodes.length >= MINIMAP_FROM_NODES && (
        <MiniMap<FlowNode> pannable zoomable nodeColor={minimapColor} nodeStrokeWidth={0} />
      )}
      {children}
    </ReactFlow>
  );
}

/** Changes that are not the pathway's: sizes, and places during a drag. */
function isOfView({ type }: NodeChange<FlowNode>): boolean {
  return type === 'dimensions' || type === 'position';
}

function minimapColor(node: FlowNode): string {
  return `var(--mantine-color-${node.type === 'card' ? lookOf(node.data.node.type).color : 'yellow'}-5)`;
}
