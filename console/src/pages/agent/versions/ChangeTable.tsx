import { Table, Text } from '@mantine/core';
import { nameOf } from '../../../schemaForm/words.ts';
import { COLON, textsIn } from '../../../texts.ts';
import { describeEdge } from '../canvas/PathwayEdgeLine.tsx';
import { lookOf } from '../nodeTypes.ts';
import type { FieldChange } from '../pathway/differences.ts';
import { type GraphNode, isNode, type Part, titleOf } from '../pathway/graph.ts';

const texts = textsIn({
  en: { field: 'Field', before: 'Before', after: 'After', edge: 'Edge', none: '—' },
  'zh-TW': { field: '欄位', before: '之前', after: '之後', edge: '連線', none: '—' },
});

/** Field by field, what was there and what is there now. */
export function ChangeTable({
  fields,
  titles = { before: texts.before, after: texts.after },
}: {
  fields: readonly FieldChange[];
  titles?: { before: string; after: string };
}) {
  return (
    <Table layout="fixed" fz="xs" withTableBorder>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w="24%">{texts.field}</Table.Th>
          <Table.Th>{titles.before}</Table.Th>
          <Table.Th>{titles.after}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {fields.map(({ path, before, after }) => (
          <Table.Tr key={path}>
            <Table.Td>
              {path
                .replace(/^data\./, '')
                .split('.')
                .map(nameOf)
                .join(' › ')}
            </Table.Td>
            <Value value={before} />
            <Value value={after} />
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** @param nodes - That the part may connect. */
export function partName(part: Part, nodes: readonly GraphNode[]): string {
  if (isNode(part)) return lookOf(part.type).name + COLON + titleOf(part);
  const titles = new Map(nodes.map((node) => [node.id, titleOf(node)]));
  return texts.edge + COLON + describeEdge(part, titles);
}

function Value({ value }: { value: unknown }) {
  const text =
    typeof value === 'string' ? value : value === undefined ? texts.none : JSON.stringify(value, null, 1);
  return (
    <Table.Td style={{ verticalAlign: 'top' }}>
      <Text fz="xs" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {text}
      </Text>
    </Table.Td>
  );
}
