import {
  Accordion,
  Badge,
  Button,
  Group,
  Loader,
  Select,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { formatDateTime, formatLatency } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { textsIn } from '../../texts.ts';
import { DeliveryDetails } from './DeliveryDetails.tsx';
import { DELIVERED_EVENTS, type Delivery } from './deliveries.ts';

const PAGE_SIZE = 25;
const TYPING_MS = 300;

const texts = textsIn({
  en: {
    title: 'Deliveries',
    webhook: 'Webhook',
    webhooks: { postSessionWebhook: 'After each session', eventWebhook: 'Live events' },
    event: 'Event',
    session: 'Session',
    all: 'All',
    clear: 'Clear',
    refresh: 'Refresh',
    loading: 'The deliveries are loading',
    none: 'Nothing was sent.',
    more: 'Show more',
    noAnswer: 'No answer',
    attempt: (attempt: number) => `attempt ${attempt}`,
  },
  'zh-TW': {
    title: '傳送紀錄',
    webhook: 'Webhook',
    webhooks: { postSessionWebhook: '每個工作階段結束後', eventWebhook: '即時事件' },
    event: '事件',
    session: '工作階段',
    all: '全部',
    clear: '清除',
    refresh: '重新整理',
    loading: '正在載入傳送紀錄',
    none: '尚未傳送任何內容。',
    more: '顯示更多',
    noAnswer: '沒有回應',
    attempt: (attempt: number) => `第 ${attempt} 次`,
  },
});

/** Each request and its outcome, the newest first. */
export function DeliveryList({ projectId }: { projectId: string }) {
  const [webhook, setWebhook] = useState<Delivery['webhook'] | null>(null);
  const [event, setEvent] = useState<Delivery['event'] | null>(null);
  const [typedSession, setSession] = useState('');
  const [sessionId] = useDebouncedValue(typedSession.trim(), TYPING_MS);
  const { data, error, hasNextPage, fetchNextPage, isFetching, refetch } = useDeliveries(projectId, {
    ...(webhook !== null && { webhook }),
    ...(event !== null && { event }),
    ...(sessionId !== '' && { sessionId }),
  });
  if (error && !data) return <ErrorPage error={error} />;
  const deliveries = data?.pages.flatMap((page) => page.data);
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2} size="h4">
          {texts.title}
        </Title>
        <Button variant="default" size="compact-sm" onClick={() => refetch()} loading={isFetching}>
          {texts.refresh}
        </Button>
      </Group>
      <Group align="flex-end">
        <Select
          label={texts.webhook}
          placeholder={texts.all}
          data={(['postSessionWebhook', 'eventWebhook'] as const).map((value) => ({
            value,
            label: texts.webhooks[value],
          }))}
          value={webhook}
          onChange={setWebhook}
          clearable
          clearButtonProps={{ 'aria-label': texts.clear }}
        />
        <Select
          label={texts.event}
          placeholder={texts.all}
          data={DELIVERED_EVENTS}
          value={event}
          onChange={setEvent}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': texts.clear }}
        />
        <TextInput
          label={texts.session}
          value={typedSession}
          onChange={(change) => setSession(change.currentTarget.value)}
        />
      </Group>
      {deliveries === undefined && <Loader aria-label={texts.loading} />}
      {deliveries?.length === 0 && <Text c="dimmed">{texts.none}</Text>}
      <Accordion keepMounted={false} variant="separated">
        {deliveries?.map((delivery) => {
          const value = `${delivery.deliveryId}-${delivery.attempt}`;
          return (
            <Accordion.Item key={value} value={value}>
              <Accordion.Control>
                <DeliveryLine delivery={delivery} />
              </Accordion.Control>
              <Accordion.Panel>
                <DeliveryDetails projectId={projectId} delivery={delivery} />
              </Accordion.Panel>
            </Accordion.Item>
          );
        })}
      </Accordion>
      {hasNextPage && (
        <Button variant="default" onClick={() => fetchNextPage()} loading={isFetching}>
          {texts.more}
        </Button>
      )}
    </Stack>
  );
}

function DeliveryLine({ delivery: { ok, status, event, attempt, at, durationMs } }: { delivery: Delivery }) {
  return (
    <Group justify="space-between" gap="xs" pr="xs">
      <Group gap="xs">
        <Badge color={ok ? 'teal' : 'red'} variant="outline" tt="none">
          {status ?? texts.noAnswer}
        </Badge>
        <Text size="sm" fw={600}>
          {event}
        </Text>
        {attempt > 1 && (
          <Text size="xs" c="dimmed">
            {texts.attempt(attempt)}
          </Text>
        )}
      </Group>
      <Group gap="xs" c="dimmed">
        <Text size="xs">{formatLatency(durationMs)}</Text>
        <Text size="xs">{formatDateTime(at)}</Text>
      </Group>
    </Group>
  );
}

type Filter = Partial<Pick<components['schemas']['WebhookDelivery'], 'webhook' | 'event'>> & {
  sessionId?: string;
};

function useDeliveries(projectId: string, filter: Filter) {
  const api = useApi();
  return useInfiniteQuery({
    queryKey: ['webhook-deliveries', projectId, filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor }) =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/webhook-deliveries', {
          params: {
            path: { projectId },
            query: { ...filter, limit: `${PAGE_SIZE}`, ...(cursor !== undefined && { cursor }) },
          },
        }),
      ),
    getNextPageParam: ({ pagination }) => pagination.nextCursor ?? undefined,
  });
}
