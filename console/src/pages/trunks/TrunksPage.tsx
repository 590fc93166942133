import { Stack } from '@mantine/core';

import { PageTitle } from '../../layout/PageTitle.tsx';
import { textsIn } from '../../texts.ts';
import { NumberSection } from './NumberSection.tsx';
import { RefusedCalls } from './RefusedCalls.tsx';
import { TestCall } from './TestCall.tsx';
import { TrunkSection } from './TrunkSection.tsx';

const texts = textsIn({ en: { title: 'Trunks and numbers' }, 'zh-TW': { title: '中繼線與號碼' } });

/** How calls reach the project, and leave it. */
export function TrunksPage() {
  return (
    <Stack>
      <PageTitle>{texts.title}</PageTitle>
      <TrunkSection />
      <RefusedCalls />
      <NumberSection />
      <TestCall />
    </Stack>
  );
}
