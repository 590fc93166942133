import { Stack } from '@mantine/core';

import { NotFoundPage } from '../../layout/NotFoundPage.tsx';
import { PageTitle } from '../../layout/PageTitle.tsx';
import { useSession } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';
import { DoNotCall } from './DoNotCall.tsx';

const texts = textsIn({
  en: { title: 'Do not call, in all projects' },
  'zh-TW': { title: '所有專案的勿撥名單' },
});

/** The numbers that no project calls, for the operator. */
export function DoNotCallPage() {
  const { kind } = useSession();
  if (kind !== 'operator') return <NotFoundPage />;
  return (
    <Stack>
      <PageTitle>{texts.title}</PageTitle>
      <DoNotCall projectId={undefined} />
    </Stack>
  );
}
