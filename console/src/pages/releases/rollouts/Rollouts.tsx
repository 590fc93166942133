import { Badge, Button, Group, Modal, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { lazyRouteComponent } from '@tanstack/react-router';
import { Suspense, useState } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { Section } from '../../../components/Section.tsx';
import { formatDateTime } from '../../../formats.ts';
import { ErrorPage } from '../../../layout/ErrorPage.tsx';
import { textsIn } from '../../../texts.ts';
import { type ListedRollout, rolloutsQuery, rolloutTexts, useRolloutEvents } from './rolloutData.ts';

const RolloutForm = lazyRouteComponent(() => import('./RolloutForm.tsx'), 'RolloutForm');
const RolloutView = lazyRouteComponent(() => import('./RolloutView.tsx'), 'RolloutView');

const texts = textsIn({
  en: {
    title: 'Rollouts',
    about:
      'Give a new release to a share of people first. The same person always gets the same release; guards compare both and take the new one back when it is worse.',
    start: 'Start a rollout',
    none: 'No rollout yet. Keep a release (publish it without “live”), start a rollout with 10 % of people, and look here at how both do.',
    past: 'Past rollouts',
    change: (percent: number, release: number, before: number) =>
      `${percent}% from release ${before} to ${release}`,
    show: 'Figures',
    showOf: (release: number, at: string) => `Figures of the rollout of release ${release}, ${at}`,
  },
  'zh-TW': {
    title: '灰度發布',
    about: '先讓一部分人使用新版本。同一個人始終使用同一版本；護欄會比較兩者，新版本較差時退回。',
    start: '開始灰度發布',
    none: '尚無灰度發布。請先保留一個版本（發布時不勾選立即上線），讓 10% 的人使用，並在此比較兩者的表現。',
    past: '過去的灰度發布',
    change: (percent: number, release: number, before: number) =>
      `${percent}% 從版本 ${before} 改為 ${release}`,
    show: '數據',
    showOf: (release: number, at: string) => `版本 ${release} 灰度發布的數據，${at}`,
  },
});

/** The rollout that runs, with its figures, and those before it. */
export function Rollouts({ projectId, mayWrite }: { projectId: string; mayWrite: boolean }) {
  const api = useApi();
  const [isOpen, dialog] = useDisclosure();
  const { data, error } = useQuery(rolloutsQuery(api, projectId));
  useRolloutEvents(projectId);
  if (!data) return error ? <ErrorPage error={error} /> : null;
  const running = data.data.find(({ status }) => status === 'running');
  const past = data.data.filter((one) => one !== running);
  return (
    <Section
      title={texts.title}
      description={texts.about}
      actions={mayWrite && !running && <Button onClick={dialog.open}>{texts.start}</Button>}
    >
      {data.data.length === 0 && <Text>{texts.none}</Text>}
      {running && (
        <Suspense>
          <RolloutView projectId={projectId} rolloutId={running.id} mayWrite={mayWrite} />
        </Suspense>
      )}
      {past.length > 0 && <PastRollouts projectId={projectId} rollouts={past} />}
      <Modal opened={isOpen} onClose={dialog.close} title={texts.start} size="lg">
        <Suspense>
          <RolloutForm projectId={projectId} onStarted={dialog.close} />
        </Suspense>
      </Modal>
    </Section>
  );
}

function PastRollouts({ projectId, rollouts }: { projectId: string; rollouts: readonly ListedRollout[] }) {
  const [shownId, setShownId] = useState<string>();
  return (
    <Stack gap="xs">
      <Text fw={600} size="sm">
        {texts.past}
      </Text>
      <Table.ScrollContainer minWidth={480}>
        <Table aria-label={texts.past}>
          <Table.Tbody>
            {rollouts.map(({ id, release, previousRelease, percent, status, startedAt, decision }) => (
              <Table.Tr key={id}>
                <Table.Td>{texts.change(percent, release, previousRelease)}</Table.Td>
                <Table.Td>
                  <Group gap="xs">
                    <Badge>{rolloutTexts.statuses[status]}</Badge>
                    {decision && <Text size="xs">{rolloutTexts.reasons[decision.reason]}</Text>}
                  </Group>
                </Table.Td>
                <Table.Td>{formatDateTime(startedAt)}</Table.Td>
                <Table.Td ta="end">
                  <Button
                    variant="default"
                    size="xs"
                    aria-expanded={shownId === id}
                    aria-label={texts.showOf(release, formatDateTime(startedAt))}
                    onClick={() => setShownId(shownId === id ? undefined : id)}
                  >
                    {texts.show}
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {shownId !== undefined && (
        <Suspense>
          <RolloutView projectId={projectId} rolloutId={shownId} mayWrite={false} />
        </Suspense>
      )}
    </Stack>
  );
}
