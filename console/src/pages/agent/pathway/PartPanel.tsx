import { ActionIcon, Button, Divider, Group, Paper, Select, Stack, Text, Title } from '@mantine/core';
import { ArrowRightIcon, Cross1Icon, TrashIcon } from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback, useMemo } from 'react';

import { apiDocumentQuery, type JsonObject, type JsonSchema } from '../../../schemaForm/jsonSchema.ts';
import { SchemaForm } from '../../../schemaForm/SchemaForm.tsx';
import { textsIn } from '../../../texts.ts';
import { edgeText } from '../canvas/PathwayEdgeLine.tsx';
import { lookOf } from '../nodeTypes.ts';
import { TemplatePreview } from '../TemplatePreview.tsx';
import classes from './editor.module.css';
import { FindingList } from './FindingList.tsx';
import type { Finding } from './findings.ts';
import {
  ANY_NODE,
  type Graph,
  type GraphEdge,
  type GraphNode,
  isNode,
  NODE_TYPES,
  type NodeType,
  type Part,
  titleOf,
} from './graph.ts';
import { edgeDataSchema, nodeDataSchema, retyped } from './partSchemas.ts';

/** Fields that few nodes need. */
const ADVANCED = [
  'expectedAnswers',
  'interruption',
  'interruptAfterMs',
  'turn',
  'speech',
  'turnDetection',
  'chat',
  'engine',
  'silence',
  'returns',
];

const texts = textsIn({
  en: {
    edge: 'Edge',
    close: 'Close',
    remove: 'Delete',
    type: 'Type',
    from: 'From',
    to: 'To',
    anyNode: 'Any node',
    leaving: 'Edges from here',
    entering: 'Edges to here',
    connectTo: 'Connect to',
    connectFrom: 'Connect from',
    choose: 'Choose a node',
    always: 'always',
  },
  'zh-TW': {
    edge: '連線',
    close: '關閉',
    remove: '刪除',
    type: '類型',
    from: '起點',
    to: '終點',
    anyNode: '任何節點',
    leaving: '由此出發的連線',
    entering: '到達此處的連線',
    connectTo: '連到',
    connectFrom: '連自',
    choose: '選擇節點',
    always: '一律',
  },
});

export interface PartPanelProps {
  readonly part: Part;
  readonly graph: Graph;
  readonly findings: readonly Finding[];
  readonly known: {
    readonly variables: readonly string[];
    readonly tools: readonly { value: string; label: string }[];
  };
  readonly isReadOnly: boolean;
  /** @param field - What is edited; edits of the same one are undone together. */
  onChange(part: Part, field?: string): void;
  onConnect(source: string, target: string): void;
  onSelect(id: string): void;
  onRemove(): void;
  onClose(): void;
}

/** The fields of the selected node or edge. */
export function PartPanel(props: PartPanelProps) {
  const { part, findings, isReadOnly, onRemove, onClose } = props;
  const title = isNode(part) ? titleOf(part) : texts.edge;
  return (
    <Paper
      component="section"
      aria-label={title}
      className={classes.panel}
      tabIndex={-1}
      withBorder
      onKeyDown={(event) => event.key === 'Escape' && !event.defaultPrevented && onClose()}
    >
      <Group justify="space-between" wrap="nowrap" mb="sm">
        <Title order={2} size="h4" lineClamp={1}>
          {title}
        </Title>
        <Group gap={4} wrap="nowrap">
          {!isReadOnly && !(isNode(part) && part.type === 'start') && (
            <ActionIcon variant="subtle" color="red" onClick={onRemove} aria-label={texts.remove}>
              <TrashIcon />
            </ActionIcon>
          )}
          <ActionIcon variant="subtle" color="gray" onClick={onClose} aria-label={texts.close}>
            <Cross1Icon />
          </ActionIcon>
        </Group>
      </Group>
      <Stack gap="md">
        <FindingList findings={findings} />
        {isNode(part) ? <NodeFields {...props} part={part} /> : <EdgeFields {...props} part={part} />}
      </Stack>
    </Paper>
  );
}

function NodeFields(props: PartPanelProps & { part: GraphNode }) {
  const { part: node, isReadOnly, onChange } = props;
  const { data: document } = useQuery(apiDocumentQuery);
  if (!document) return null;
  const schema = nodeDataSchema(document, node.type);
  const types = NODE_TYPES.filter((type) => (node.type === 'start') === (type === 'start'));
  return (
    <>
      <Select
        label={texts.type}
        data={types.map((type) => ({ value: type, label: lookOf(type).name }))}
        value={node.type}
        allowDeselect={false}
        readOnly={isReadOnly || node.type === 'start'}
        onChange={(type) => type && onChange(retyped(node, type as NodeType, document))}
      />
      <DataForm {...props} schema={schema} document={document} />
      <Divider />
      <Connections {...props} />
    </>
  );
}

function EdgeFields(props: PartPanelProps & { part: GraphEdge }) {
  const { part: edge, graph, isReadOnly, onChange } = props;
  const { data: document } = useQuery(apiDocumentQuery);
  if (!document) return null;
  const nodes = nodeChoices(graph);
  const end = (name: 'source' | 'target', label: string, choices: typeof nodes) => (
    <Select
      label={label}
      data={choices}
      value={edge[name]}
      searchable
      allowDeselect={false}
      readOnly={isReadOnly}
      onChange={(id) => id !== null && onChange({ ...edge, [name]: id })}
    />
  );
  return (
    <>
      {end('source', texts.from, [{ value: ANY_NODE, label: texts.anyNode }, ...nodes])}
      {end('target', texts.to, nodes)}
      <DataForm {...props} schema={edgeDataSchema(document)} document={document} />
    </>
  );
}

function DataForm({
  part,
  schema,
  document,
  findings,
  known,
  isReadOnly,
  onChange,
}: PartPanelProps & { schema: JsonSchema; document: JsonObject }) {
  const errors = useMemo(() => {
    const wrong = findings.filter(({ severity }) => severity === 'error');
    return new Map(wrong.map(({ pointer, message }) => [pointer.replace(/^\/data/, ''), message]));
  }, [findings]);
  const { tools } = known;
  const choices = useCallback(
    (pointer: string) => (pointer === '/tools' || pointer === '/condition/tool' ? tools : undefined),
    [tools],
  );
  return (
    <SchemaForm
      key={part.id}
      schema={schema}
      document={document}
      value={part.data}
      onChange={(data, field) => onChange({ ...part, data }, field)}
      first={['title', 'label', 'prompt', 'condition', 'to', 'tools']}
      advanced={ADVANCED}
      errors={errors}
      variables={known.variables}
      TemplatePreview={TemplatePreview}
      choices={choices}
      isReadOnly={isReadOnly}
    />
  );
}

/** The edges of a node, which are added here without a mouse. */
function Connections({
  part: node,
  graph,
  isReadOnly,
  onConnect,
  onSelect,
}: PartPanelProps & { part: GraphNode }) {
  const nodes = nodeChoices(graph);
  const titles = new Map([
    [ANY_NODE, texts.anyNode],
    ...graph.nodes.map((one) => [one.id, titleOf(one)] as const),
  ]);
  const list = (edges: readonly GraphEdge[], other: 'source' | 'target'): ReactNode =>
    edges.map((edge) => (
      <Button
        key={edge.id}
        variant="default"
        size="compact-sm"
        justify="flex-start"
        leftSection={<ArrowRightIcon />}
        onClick={() => onSelect(edge.id)}
      >
        {titles.get(edge[other]) ?? edge[other]}: {edgeText(edge) ?? texts.always}
      </Button>
    ));
  const add = (label: string, choices: typeof nodes, connect: (id: string) => void) =>
    !isReadOnly && (
      <Select
        size="xs"
        label={label}
        placeholder={texts.choose}
        data={choices}
        value={null}
        searchable
        onChange={(id) => id !== null && connect(id)}
      />
    );
  return (
    <>
      <Stack gap="xs">
        <Text size="sm" fw={600}>
          {texts.leaving}
        </Text>
        {list(
          graph.edges.filter(({ source }) => source === node.id),
          'target',
        )}
        {add(texts.connectTo, nodes, (id) => onConnect(node.id, id))}
      </Stack>
      <Stack gap="xs">
        <Text size="sm" fw={600}>
          {texts.entering}
        </Text>
        {list(
          graph.edges.filter(({ target }) => target === node.id),
          'source',
        )}
        {add(texts.connectFrom, [{ value: ANY_NODE, label: texts.anyNode }, ...nodes], (id) =>
          onConnect(id, node.id),
        )}
      </Stack>
    </>
  );
}

function nodeChoices({ nodes }: Graph): { value: string; label: string }[] {
  return nodes.map((node) => ({ value: node.id, label: titleOf(node) }));
}
