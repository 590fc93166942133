import { Alert, Button, Stack } from '@mantine/core';

import { textsIn } from '../texts.ts';

const texts = textsIn({
  en: { title: 'This page cannot be shown', retry: 'Try again' },
  'zh-TW': { title: '無法顯示此頁面', retry: '再試一次' },
});

export function ErrorPage({ error }: { error: unknown }) {
  return (
    <Alert color="red" title={texts.title} m="md" variant="outline">
      <Stack align="flex-start">
        {error instanceof Error ? error.message : String(error)}
        <Button variant="default" onClick={() => location.reload()}>
          {texts.retry}
        </Button>
      </Stack>
    </Alert>
  );
}
