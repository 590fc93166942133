import { Badge, Grid, Group, Kbd, Loader, NavLink, Paper, Stack, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { codeText } from '../../codes/codeText.ts';
import { MoreButton } from '../../components/PagedTable.tsx';
import { formatDateTime, formatNumber } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { SEMICOLON, textsIn } from '../../texts.ts';
import { ReviewForm } from './ReviewForm.tsx';
import { reviewsQuery } from './reviewData.ts';

const texts = textsIn({
  en: {
    none: 'Nothing waits for review. Choose under “What is queued” which conversations shall, for example those that did not meet a criterion, and 2 % of all by chance.',
    queue: 'Conversations to review',
    left: (count: string) => `${count} left`,
    keys: [
      ['j', 'next'],
      ['k', 'previous'],
      ['g', 'good'],
      ['b', 'bad'],
      ['n', 'note'],
      ['l', 'labels'],
    ],
  },
  'zh-TW': {
    none: '沒有待審查的對話。請在「排入規則」選擇哪些對話要審查，例如未符合準則者，以及隨機 2%。',
    queue: '待審查的對話',
    left: (count: string) => `剩餘 ${count}`,
    keys: [
      ['j', '下一個'],
      ['k', '上一個'],
      ['g', '好'],
      ['b', '不好'],
      ['n', '備註'],
      ['l', '標籤'],
    ],
  },
});

/** One conversation after the other, by keys alone where one likes. */
export function ReviewQueue({ projectId, mayWrite }: { projectId: string; mayWrite: boolean }) {
  const api = useApi();
  const pages = useInfiniteQuery(reviewsQuery(api, projectId, 'open'));
  const { data, error } = pages;
  const [chosen, setChosen] = useState(0);
  const sessions = data?.items ?? [];
  const index = Math.min(chosen, sessions.length - 1);
  const move = (step: number) => setChosen(Math.max(0, Math.min(sessions.length - 1, index + step)));
  useHotkeys([
    ['j', () => move(1)],
    ['k', () => move(-1)],
  ]);
  if (!data) return error ? <ErrorPage error={error} /> : <Loader aria-label={texts.queue} />;
  const session = sessions[index];
  if (!session) return <Text>{texts.none}</Text>;
  const total = data.total ?? sessions.length;
  return (
    <Stack gap="sm">
      <Group gap="md">
        <Text size="sm" role="status">
          {texts.left(formatNumber(total))}
        </Text>
        {texts.keys.map(([key, meaning]) => (
          <Text key={key} size="xs" c="dimmed" visibleFrom="sm">
            <Kbd size="xs">{key}</Kbd> {meaning}
          </Text>
        ))}
      </Group>
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Paper
            withBorder
            component="nav"
            aria-label={texts.queue}
            mah={{ base: 220, md: 480 }}
            style={{ overflow: 'auto' }}
          >
            {sessions.map(({ sessionId, channel, startedAt, why }, place) => (
              <NavLink
                key={`${sessionId} ${startedAt}`}
                component="button"
                active={place === index}
                aria-current={place === index}
                label={`${formatDateTime(startedAt)} · ${codeText('channel', channel)}`}
                description={why.map((reason) => codeText('reviewReason', reason)).join(SEMICOLON)}
                // Over the color of the chosen one, the dimmed text of the others is too pale.
                styles={{ description: { color: 'var(--mantine-color-text)', opacity: 1 } }}
                onClick={() => setChosen(place)}
              />
            ))}
            <MoreButton pages={pages} />
          </Paper>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack gap="sm">
            <Group gap="xs">
              {session.why.map((reason) => (
                <Badge key={reason}>{codeText('reviewReason', reason)}</Badge>
              ))}
            </Group>
            <ReviewForm
              key={`${session.sessionId} ${session.startedAt}`}
              projectId={projectId}
              session={session}
              mayWrite={mayWrite}
            />
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  );
}
