import { Group, Stack, Table, Text, Title } from '@mantine/core';

import { resultReasonText } from '../../../codes/codeText.ts';
import { COLON, textsIn } from '../../../texts.ts';
import { Outcome } from '../../sessions/Outcome.tsx';
import type { Timeline } from '../model/callTimeline.ts';

const texts = textsIn({
  en: {
    title: 'Results',
    failed: 'The analysis has failed',
    skipped: 'Not analyzed',
    none: 'No disposition',
    met: 'Met',
    missed: 'Not met',
    noScore: 'No score',
  },
  'zh-TW': {
    title: '結果',
    failed: '分析失敗',
    skipped: '未分析',
    none: '無結果分類',
    met: '符合',
    missed: '不符合',
    noScore: '無分數',
  },
});

/** What was found out of a session after its end: its analysis, and its criteria. */
export function Results({ timeline: { analysis, evaluation } }: { readonly timeline: Timeline }) {
  if (!analysis && !evaluation) return null;
  const { status, reason, summary, disposition, success, data = {} } = analysis ?? {};
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Title order={2} size="h4">
          {texts.title}
        </Title>
        {status === 'done' && <Outcome disposition={disposition ?? texts.none} success={success ?? null} />}
      </Group>
      {status !== undefined && status !== 'done' && (
        <Text size="sm" c="dimmed">
          {[texts[status], reason && resultReasonText(reason)].filter(Boolean).join(COLON)}
        </Text>
      )}
      {summary !== undefined && <Text size="sm">{summary}</Text>}
      <Table fz="sm">
        <Table.Tbody>
          {Object.entries(data).map(([name, value]) => (
            <Table.Tr key={`data ${name}`}>
              <Table.Th>{name}</Table.Th>
              <Table.Td colSpan={2}>{typeof value === 'string' ? value : JSON.stringify(value)}</Table.Td>
            </Table.Tr>
          ))}
          {evaluation?.criteria.map((criterion) => (
            <Table.Tr key={`criterion ${criterion.name}`}>
              <Table.Th>{criterion.name}</Table.Th>
              <Table.Td>{resultOf(criterion)}</Table.Td>
              <Table.Td>{resultReasonText(criterion.reason)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}

type Criterion = NonNullable<Timeline['evaluation']>['criteria'][number];

function resultOf(criterion: Criterion): string {
  if ('passed' in criterion) return criterion.passed ? texts.met : texts.missed;
  return criterion.score === null ? texts.noScore : `${criterion.score} / 5`;
}
