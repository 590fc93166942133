import { Badge, Group, Loader, Paper, Stack, Text } from '@mantine/core';

import { formatDateTime } from '../../../formats.ts';
import { ErrorPage } from '../../../layout/ErrorPage.tsx';
import { ButtonLink, PageLink } from '../../../layout/links.tsx';
import { useScope } from '../../../session/session.ts';
import { textsIn } from '../../../texts.ts';
import { RunButton } from '../runs/RunButton.tsx';
import { useCases } from '../testData.ts';
import { FromSession } from './FromSession.tsx';

const texts = textsIn({
  en: {
    none: 'No case yet. A case plays a caller, and says what must hold at the end.',
    loading: 'The cases are loading',
    create: 'Create a case',
    channels: { chat: 'Chat', phone: 'Phone' },
    changed: (time: string) => `changed ${time}`,
  },
  'zh-TW': {
    none: '尚無測試案例。案例會扮演來電者，並說明結束時必須成立的條件。',
    loading: '正在載入測試案例',
    create: '建立測試案例',
    channels: { chat: '文字', phone: '電話' },
    changed: (time: string) => `變更於 ${time}`,
  },
});

export function CaseList({ projectId }: { projectId: string }) {
  const { data: cases, error } = useCases(projectId);
  const mayWrite = useScope('write');
  if (error && !cases) return <ErrorPage error={error} />;
  return (
    <Stack>
      {mayWrite && (
        <Group>
          <ButtonLink
            to="/projects/$projectId/tests/cases/$testCaseId"
            params={{ projectId, testCaseId: 'new' }}
          >
            {texts.create}
          </ButtonLink>
          <FromSession projectId={projectId} />
        </Group>
      )}
      {cases === undefined && <Loader aria-label={texts.loading} />}
      {cases?.length === 0 && <Text c="dimmed">{texts.none}</Text>}
      {cases?.map(({ id, name, description, channel, updatedAt }) => (
        <Paper key={id} withBorder p="sm" radius="md" component="article" aria-label={name}>
          <Group justify="space-between" wrap="nowrap">
            <Stack gap={2} miw={0}>
              <PageLink
                to="/projects/$projectId/tests/cases/$testCaseId"
                params={{ projectId, testCaseId: id }}
                fw={600}
                style={{ overflowWrap: 'anywhere' }}
              >
                {name}
              </PageLink>
              {description !== null && (
                <Text size="sm" lineClamp={2}>
                  {description}
                </Text>
              )}
              <Group gap="xs">
                <Badge color="gray" variant="outline" size="sm">
                  {texts.channels[channel]}
                </Badge>
                <Text size="xs" c="dimmed">
                  {texts.changed(formatDateTime(updatedAt))}
                </Text>
              </Group>
            </Stack>
            {mayWrite && (
              <RunButton projectId={projectId} subject={{ kind: 'case', id, name }} variant="default" />
            )}
          </Group>
        </Paper>
      ))}
    </Stack>
  );
}
