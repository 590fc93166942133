import { Alert, Button, Code, CopyButton, Group, Loader, Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { ConfirmButton } from '../../components/ConfirmButton.tsx';
import { formatDateTime } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { textsIn } from '../../texts.ts';

const texts = textsIn({
  en: {
    title: 'Signing secret',
    help: 'A receiver checks the Standard Webhooks headers of each delivery with it.',
    loading: 'The secret is loading',
    show: 'Show',
    hide: 'Hide',
    copy: 'Copy',
    copied: 'Copied',
    rotate: 'Rotate the secret',
    question:
      'A new secret signs from now on. For 24 hours the current one signs too, so that receivers can change.',
    previous: (time: string) => `The secret before it signs too until ${time}.`,
  },
  'zh-TW': {
    title: '簽章密鑰',
    help: '接收端用它驗證每次傳送的 Standard Webhooks 標頭。',
    loading: '正在載入密鑰',
    show: '顯示',
    hide: '隱藏',
    copy: '複製',
    copied: '已複製',
    rotate: '更換密鑰',
    question: '之後改由新密鑰簽章。目前的密鑰仍會同時簽章 24 小時，讓接收端有時間更換。',
    previous: (time: string) => `前一個密鑰同時簽章至 ${time}。`,
  },
});

/** For those who may manage keys. */
export function SigningSecret({ projectId }: { projectId: string }) {
  const api = useApi();
  const queries = useQueryClient();
  const [isShown, setIsShown] = useState(false);
  const params = { path: { projectId } };
  const queryKey = ['webhook-secret', projectId];
  const { data, error } = useQuery({
    queryKey,
    queryFn: () => bodyOf(api.GET('/v1/projects/{projectId}/webhook-secret', { params })),
  });
  const rotate = async () => {
    await api.POST('/v1/projects/{projectId}/webhook-secret/rotate', { params });
    await queries.invalidateQueries({ queryKey });
  };
  if (error && !data) return <ErrorPage error={error} />;
  return (
    <Paper withBorder p="md" radius="md">
      <Stack gap="xs">
        <Title order={2} size="h4">
          {texts.title}
        </Title>
        <Text size="sm" c="dimmed">
          {texts.help}
        </Text>
        {!data && <Loader size="sm" aria-label={texts.loading} />}
        {data && (
          <Group gap="xs">
            <Code style={{ overflowWrap: 'anywhere' }} fz="sm">
              {isShown ? data.secret : `whsec_${'•'.repeat(12)}`}
            </Code>
            <Button variant="default" size="compact-sm" onClick={() => setIsShown(!isShown)}>
              {isShown ? texts.hide : texts.show}
            </Button>
            <CopyButton value={data.secret}>
              {({ copied, copy }) => (
                <Button variant="default" size="compact-sm" onClick={copy}>
                  {copied ? texts.copied : texts.copy}
                </Button>
              )}
            </CopyButton>
            <ConfirmButton question={texts.question} size="compact-sm" action={rotate}>
              {texts.rotate}
            </ConfirmButton>
          </Group>
        )}
        {data && data.previousValidUntil !== null && (
          <Alert color="gray" variant="outline">
            {texts.previous(formatDateTime(data.previousValidUntil))}
          </Alert>
        )}
      </Stack>
    </Paper>
  );
}
