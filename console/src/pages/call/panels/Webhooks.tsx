import { Badge, Spoiler, Table, Text } from '@mantine/core';

import { deliveryErrorText } from '../../../codes/codeText.ts';
import { formatLatency, formatTime } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';
import { STATES } from '../colors.ts';
import type { Delivery } from '../model/callTimeline.ts';
import styles from './panels.module.css';

const texts = textsIn({
  en: {
    none: 'No webhook was sent.',
    time: 'Time',
    event: 'Event',
    answer: 'Answer',
    took: 'Took',
    address: 'Address',
    attempt: (count: number) => `attempt ${count}`,
    more: 'Show all',
    less: 'Show less',
  },
  'zh-TW': {
    none: '沒有送出 Webhook。',
    time: '時間',
    event: '事件',
    answer: '回應',
    took: '耗時',
    address: '位址',
    attempt: (count: number) => `第 ${count} 次`,
    more: '顯示全部',
    less: '顯示較少',
  },
});

/** What was sent about the call, and what came back. */
export function Webhooks({ deliveries }: { deliveries: readonly Delivery[] }) {
  if (deliveries.length === 0) return <Text c="dimmed">{texts.none}</Text>;
  return (
    <Table.ScrollContainer minWidth={520}>
      <Table fz="xs" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            {[texts.time, texts.event, texts.answer, texts.took, texts.address].map((title) => (
              <Table.Th key={title}>{title}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {deliveries.map(
            ({ deliveryId, attempt, at, event, ok, status, error, answer, durationMs, url }) => (
              <Table.Tr key={`${deliveryId} ${attempt}`}>
                <Table.Td>{formatTime(at)}</Table.Td>
                <Table.Td>
                  {event}
                  {attempt > 1 && ` (${texts.attempt(attempt)})`}
                </Table.Td>
                <Table.Td>
                  <Badge size="sm" tt="none" color={ok ? STATES.good : STATES.bad} variant="filled">
                    {status ?? error?.code}
                  </Badge>
                  {error && <Text size="xs">{deliveryErrorText(error)}</Text>}
                  {answer !== null && (
                    <Spoiler maxHeight={40} showLabel={texts.more} hideLabel={texts.less} fz="xs">
                      <Text size="xs" ff="monospace" className={styles.answer}>
                        {answer}
                      </Text>
                    </Spoiler>
                  )}
                </Table.Td>
                <Table.Td>{formatLatency(durationMs)}</Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{url}</Table.Td>
              </Table.Tr>
            ),
          )}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
