import { Badge, Group, Loader, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageLink } from '../../layout/links.tsx';
import { nameOf } from '../../schemaForm/words.ts';
import { textsIn } from '../../texts.ts';

const texts = textsIn({
  en: {
    loading: 'The webhooks are loading',
    post: 'After each session',
    postHelp: 'Sent once, signed: the end of the session, of the call, its recording, and all of its data.',
    live: 'Live events',
    liveHelp: 'Sent as they happen, signed, in order for each session, and repeated for up to an hour.',
    none: 'Not set.',
    setBy: 'Set it on the agent’s page:',
  },
  'zh-TW': {
    loading: '正在載入 Webhook',
    post: '每個工作階段結束後',
    postHelp: '簽章後傳送一次：工作階段與通話的結束、錄音，以及全部資料。',
    live: '即時事件',
    liveHelp: '事件發生時即簽章傳送，每個工作階段依序送達，失敗時最多重試一小時。',
    none: '尚未設定。',
    setBy: '在代理頁面設定：',
  },
});

/** The two webhooks of the agent, and where they are set. */
export function WebhookTargets({ projectId }: { projectId: string }) {
  const api = useApi();
  const { data: agent, error } = useQuery({
    queryKey: ['agent', projectId, 'webhooks'],
    queryFn: () => bodyOf(api.GET('/v1/projects/{projectId}/agent', { params: { path: { projectId } } })),
  });
  if (!agent) return error ? <ErrorPage error={error} /> : <Loader aria-label={texts.loading} />;
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Target
        projectId={projectId}
        title={texts.post}
        help={texts.postHelp}
        field="postSessionWebhook"
        target={agent.postSessionWebhook}
      />
      <Target
        projectId={projectId}
        title={texts.live}
        help={texts.liveHelp}
        field="eventWebhook"
        target={agent.eventWebhook}
      />
    </SimpleGrid>
  );
}

interface TargetProps {
  projectId: string;
  title: string;
  help: string;
  field: 'postSessionWebhook' | 'eventWebhook';
  target: { url: string; events?: readonly string[] } | null;
}

function Target({ projectId, title, help, field, target }: TargetProps) {
  return (
    <Paper withBorder p="md" radius="md">
      <Stack gap="xs">
        <Title order={2} size="h4">
          {title}
        </Title>
        <Text size="sm" c="dimmed">
          {help}
        </Text>
        <Text ff={target ? 'monospace' : 'text'} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {target ? target.url : texts.none}
        </Text>
        <Group gap={6}>
          {target?.events?.map((event) => (
            <Badge key={event} color="gray" variant="outline" tt="none">
              {event}
            </Badge>
          ))}
        </Group>
        <Text size="xs" c="dimmed">
          <PageLink to="/projects/$projectId/agent" params={{ projectId }} size="xs" underline="always">
            {texts.setBy}
          </PageLink>{' '}
          {nameOf(field)}
        </Text>
      </Stack>
    </Paper>
  );
}
