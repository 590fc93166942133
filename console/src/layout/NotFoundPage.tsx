import { Stack, Title } from '@mantine/core';

import { textsIn } from '../texts.ts';
import { PageLink } from './links.tsx';

const texts = textsIn({
  en: { title: 'There is no such page', start: 'Go to the start' },
  'zh-TW': { title: '沒有這個頁面', start: '回到首頁' },
});

export function NotFoundPage() {
  return (
    <Stack>
      <Title order={1} size="h2">
        {texts.title}
      </Title>
      <PageLink to="/">{texts.start}</PageLink>
    </Stack>
  );
}
