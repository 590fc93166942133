import { Stack } from '@mantine/core';

import { textsIn } from '../texts.ts';
import { PageLink } from './links.tsx';
import { PageTitle } from './PageTitle.tsx';

const texts = textsIn({
  en: { title: 'There is no such page', start: 'Go to the start' },
  'zh-TW': { title: '沒有這個頁面', start: '回到首頁' },
});

export function NotFoundPage() {
  return (
    <Stack>
      <PageTitle>{texts.title}</PageTitle>
      <PageLink to="/">{texts.start}</PageLink>
    </Stack>
  );
}
