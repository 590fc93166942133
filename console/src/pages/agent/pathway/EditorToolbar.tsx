import { ActionIcon, Badge, Button, Group, Menu, Select, Text, Tooltip } from '@mantine/core';
import {
  ChevronDownIcon,
  CrossCircledIcon,
  ExclamationTriangleIcon,
  LayoutIcon,
  MagnifyingGlassIcon,
  PlusIcon,
  ResetIcon,
} from '@radix-ui/react-icons';
import { useReactFlow } from '@xyflow/react';
import type { ReactNode, RefObject } from 'react';

import { textsIn } from '../../../texts.ts';
import { arranged } from '../agentQueries.ts';
import { FIT } from '../canvas/PathwayCanvas.tsx';
import { describeEdge } from '../canvas/PathwayEdgeLine.tsx';
import { lookOf } from '../nodeTypes.ts';
import { type Findings, worst } from './findings.ts';
import {
  type Graph,
  type GraphNode,
  mentions,
  movedTo,
  NODE_HEIGHT,
  NODE_TYPES,
  NODE_WIDTH,
  type Position,
  partOf,
  titleOf,
  withNode,
} from './graph.ts';
import type { PathwayEditor } from './usePathwayEditor.ts';

const MAX_RESULTS = 20;
const GAP_BELOW = 80;

const texts = textsIn({
  en: {
    add: 'Add a node',
    undo: 'Undo',
    redo: 'Redo',
    arrange: 'Arrange',
    search: 'Search nodes and edges',
    findings: (count: number) => (count === 1 ? '1 finding' : `${count} findings`),
    save: 'Save',
    saved: (version: number) => `Version ${version}`,
    unsaved: 'Unsaved changes',
  },
  'zh-TW': {
    add: '新增節點',
    undo: '復原',
    redo: '重做',
    arrange: '自動排列',
    search: '搜尋節點與連線',
    findings: (count: number) => `${count} 項問題`,
    save: '儲存',
    saved: (version: number) => `第 ${version} 版`,
    unsaved: '尚未儲存',
  },
});

export function EditorToolbar({
  editor,
  isReadOnly,
  findings,
  selectedNode,
  search,
  onAdd,
  onShow,
  onSave,
  viewCenter,
}: {
  editor: PathwayEditor;
  isReadOnly: boolean;
  findings: Findings;
  selectedNode: GraphNode | undefined;
  search: RefObject<HTMLInputElement | null>;
  onAdd: (made: [Graph, GraphNode]) => void;
  onShow: (id: string) => void;
  onSave: () => void;
  viewCenter: () => Position;
}) {
  const { graph, undo, redo, hasChanges, base, save, dispatch } = editor;
  const flow = useReactFlow();
  const placeOfNew = (): Position => {
    if (!selectedNode) return freePlace(graph, viewCenter());
    const { x, y } = selectedNode.position;
    return freePlace(graph, { x, y: y + NODE_HEIGHT + GAP_BELOW });
  };
  const arrange = async () => {
    const { nodes } = await arranged(graph);
    const positions = new Map(nodes.map(({ id, position }) => [id, position]));
    dispatch({ kind: 'edit', change: (current) => movedTo(current, positions) });
    await flow.fitView({ ...FIT, duration: 200 });
  };
  return (
    <Group gap="xs">
      {!isReadOnly && (
        <>
          <Menu position="bottom-start">
            <Menu.Target>
              <Button leftSection={<PlusIcon />} rightSection={<ChevronDownIcon />} variant="default">
                {texts.add}
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {NODE_TYPES.filter((type) => type !== 'start').map((type) => {
                const { name, Icon } = lookOf(type);
                return (
                  <Menu.Item
                    key={type}
                    leftSection={<Icon />}
                    onClick={() => onAdd(withNode(graph, type, name, placeOfNew()))}
                  >
                    {name}
                  </Menu.Item>
                );
              })}
            </Menu.Dropdown>
          </Menu>
          <IconButton
            label={`${texts.undo} (Ctrl+Z)`}
            isDisabled={undo.length === 0}
            onClick={() => dispatch({ kind: 'undo' })}
          >
            <ResetIcon />
          </IconButton>
          <IconButton
            label={`${texts.redo} (Ctrl+Shift+Z)`}
            isDisabled={redo.length === 0}
            onClick={() => dispatch({ kind: 'redo' })}
          >
            <ResetIcon style={{ transform: 'scaleX(-1)' }} />
          </IconButton>
          <IconButton label={texts.arrange} onClick={() => void arrange()}>
            <LayoutIcon />
          </IconButton>
        </>
      )}
      <Search graph={graph} search={search} onShow={onShow} />
      <FindingsMenu graph={graph} findings={findings} onShow={onShow} />
      <Group gap="xs" ml="auto">
        <Text size="sm" c="dimmed" role="status">
          {hasChanges ? texts.unsaved : texts.saved(base.version)}
        </Text>
        {!isReadOnly && (
          <Button onClick={onSave} disabled={!hasChanges} loading={save.isPending}>
            {texts.save}
          </Button>
        )}
      </Group>
    </Group>
  );
}

function IconButton({
  label,
  isDisabled = false,
  onClick,
  children,
}: {
  label: string;
  isDisabled?: boolean;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" size={36} aria-label={label} disabled={isDisabled} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

/** Finds words in all fields of nodes and edges. */
function Search({
  graph,
  search,
  onShow,
}: {
  graph: Graph;
  search: RefObject<HTMLInputElement | null>;
  onShow: (id: string) => void;
}) {
  const titles = new Map(graph.nodes.map((node) => [node.id, titleOf(node)]));
  const data = [
    ...graph.nodes.map((node) => ({ value: node.id, label: titleOf(node) })),
    ...graph.edges.map((edge) => ({ value: edge.id, label: describeEdge(edge, titles) })),
  ];
  return (
    <Select
      ref={search}
      w={{ base: '100%', xs: 250 }}
      aria-label={texts.search}
      placeholder={texts.search}
      leftSection={<MagnifyingGlassIcon />}
      data={data}
      value={null}
      searchable
      limit={MAX_RESULTS}
      filter={({ options, search: words }) =>
        options.filter((option) => {
          const part = 'value' in option ? partOf(graph, option.value) : undefined;
          return part !== undefined && mentions(part, words.trim());
        })
      }
      onChange={(id) => id !== null && onShow(id)}
    />
  );
}

function FindingsMenu({
  graph,
  findings,
  onShow,
}: {
  graph: Graph;
  findings: Findings;
  onShow: (id: string) => void;
}) {
  const shown = [...findings].filter(([id]) => id !== '');
  const count = shown.reduce((sum, [, list]) => sum + list.length, 0);
  if (count === 0) return null;
  const hasErrors = worst(shown.flatMap(([, list]) => list)) === 'error';
  return (
    <Menu position="bottom-start" width={360} keepMounted={false}>
      <Menu.Target>
        <Button
          variant="default"
          leftSection={
            <ExclamationTriangleIcon color={`var(--mantine-color-${hasErrors ? 'red' : 'orange'}-6)`} />
          }
        >
          {texts.findings(count)}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={360} style={{ overflowY: 'auto' }}>
        {shown.flatMap(([id, list]) => {
          const part = partOf(graph, id);
          return list.map(({ message, pointer, severity }) => (
            <Menu.Item key={`${id} ${pointer} ${message}`} onClick={() => onShow(id)}>
              <Badge size="xs" variant="default" mr={6} tt="none" leftSection={<Dot severity={severity} />}>
                {part && 'type' in part ? titleOf(part) : id}
              </Badge>
              <Text size="xs">{message}</Text>
            </Menu.Item>
          ));
        })}
      </Menu.Dropdown>
    </Menu>
  );
}

function Dot({ severity }: { severity: 'error' | 'warning' }) {
  const Icon = severity === 'error' ? CrossCircledIcon : ExclamationTriangleIcon;
  return <Icon color={`var(--mantine-color-${severity === 'error' ? 'red' : 'orange'}-6)`} />;
}

/** Not on top of another node. */
function freePlace({ nodes }: Graph, wanted: Position): Position {
  let place = wanted;
  const isTaken = ({ position }: GraphNode) =>
    Math.abs(position.x - place.x) < NODE_WIDTH && Math.abs(position.y - place.y) < NODE_HEIGHT;
  while (nodes.some(isTaken)) place = { x: place.x + NODE_WIDTH + 40, y: place.y };
  return place;
}
