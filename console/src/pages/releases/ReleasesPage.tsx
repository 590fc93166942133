import { Button, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, lazyRouteComponent } from '@tanstack/react-router';
import { Suspense } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { Section } from '../../components/Section.tsx';
import { PageTitle } from '../../layout/PageTitle.tsx';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';
import { agentQuery } from '../agent/agentQueries.ts';
import { ReleaseList } from './ReleaseList.tsx';
import { Rollouts } from './rollouts/Rollouts.tsx';

const PublishForm = lazyRouteComponent(() => import('./PublishForm.tsx'), 'PublishForm');
const ReleaseDiff = lazyRouteComponent(() => import('./ReleaseDiff.tsx'), 'ReleaseDiff');

const route = getRouteApi('/projects/$projectId/releases');

const texts = textsIn({
  en: {
    title: 'Releases',
    publish: 'Publish…',
    dialog: 'Publish the agent',
    list: 'All releases',
    about:
      'A release is the agent’s settings and its pathway as they were at one time. Each conversation names the one that it ran on.',
    draft: 'Callers get the live release; what you save on the agent’s page is a draft until you publish it.',
    published: 'The agent is published: what you save is live at once, and makes a release by itself.',
  },
  'zh-TW': {
    title: '發布版本',
    publish: '發布…',
    dialog: '發布代理',
    list: '所有版本',
    about: '一個版本是代理設定與路徑在某個時間點的內容。每段對話都會記錄使用的版本。',
    draft: '來電者使用線上版本；在代理頁面儲存的內容在發布之前都是草稿。',
    published: '代理已發布：儲存後立即上線，並自動產生新版本。',
  },
});

/** What callers get and got: the releases, and how two of them differ. */
export function ReleasesPage() {
  const { projectId } = route.useParams();
  const { release, compared } = route.useSearch();
  const api = useApi();
  const mayWrite = useScope('write');
  const [isOpen, dialog] = useDisclosure();
  const agent = useQuery(agentQuery(api, projectId));
  return (
    <Stack>
      <PageTitle>{texts.title}</PageTitle>
      {agent.data && (
        <Text size="sm" c="dimmed">
          {texts[agent.data.status]}
        </Text>
      )}
      {release !== undefined && (
        <Suspense>
          <ReleaseDiff
            key={release}
            projectId={projectId}
            release={release}
            compared={compared ?? Math.max(1, release - 1)}
          />
        </Suspense>
      )}
      <Rollouts projectId={projectId} mayWrite={mayWrite} />
      <Section
        title={texts.list}
        description={texts.about}
        actions={mayWrite && <Button onClick={dialog.open}>{texts.publish}</Button>}
      >
        <ReleaseList projectId={projectId} mayWrite={mayWrite} />
      </Section>
      <Modal opened={isOpen} onClose={dialog.close} title={texts.dialog}>
        <Suspense>
          <PublishForm projectId={projectId} onPublished={dialog.close} />
        </Suspense>
      </Modal>
    </Stack>
  );
}
