import { Stack, Tabs } from '@mantine/core';

import { useProjectId } from '../../components/useProjectId.ts';
import { PageTitle } from '../../layout/PageTitle.tsx';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';
import { DoneReviews } from './DoneReviews.tsx';
import { ReviewQueue } from './ReviewQueue.tsx';
import { ReviewRules } from './ReviewRules.tsx';

const texts = textsIn({
  en: { title: 'Reviews', open: 'To review', done: 'Reviewed', rules: 'What is queued' },
  'zh-TW': { title: '審查', open: '待審查', done: '已審查', rules: '排入規則' },
});

/** Conversations that are worth a person's minute. */
export function ReviewsPage() {
  const projectId = useProjectId();
  const mayWrite = useScope('write');
  return (
    <Stack>
      <PageTitle>{texts.title}</PageTitle>
      <Tabs defaultValue="open" keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="open">{texts.open}</Tabs.Tab>
          <Tabs.Tab value="done">{texts.done}</Tabs.Tab>
          <Tabs.Tab value="rules">{texts.rules}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="open">
          <ReviewQueue projectId={projectId} mayWrite={mayWrite} />
        </Tabs.Panel>
        <Tabs.Panel value="done">
          <DoneReviews projectId={projectId} mayWrite={mayWrite} />
        </Tabs.Panel>
        <Tabs.Panel value="rules">
          <ReviewRules projectId={projectId} mayWrite={mayWrite} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}
