import { Button, Group, Loader, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { getRouteApi } from '@tanstack/react-router';

import { codeText } from '../../codes/codeText.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageLink } from '../../layout/links.tsx';
import { PageTitle } from '../../layout/PageTitle.tsx';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';
import { CampaignActions } from './CampaignActions.tsx';
import { CampaignForm } from './CampaignForm.tsx';
import { CampaignProgress } from './CampaignProgress.tsx';
import { CampaignStatus } from './CampaignStatus.tsx';
import { ContactTable } from './ContactTable.tsx';
import { isAtRest, isOver, useCampaign, useCampaignEvents } from './campaignData.ts';
import { FirstCalls } from './FirstCalls.tsx';
import { ImportHistory } from './imports/ImportHistory.tsx';
import { ImportList } from './imports/ImportList.tsx';
import { RehearseButton } from './RehearseButton.tsx';

const route = getRouteApi('/projects/$projectId/campaigns/$campaignId');

const texts = textsIn({
  en: { back: '← Campaigns', loading: 'The campaign is loading', settings: 'Settings' },
  'zh-TW': { back: '← 外撥活動', loading: '正在載入外撥活動', settings: '設定' },
});

/** One campaign: its list, its progress, and its contacts. */
export function CampaignPage() {
  const { projectId, campaignId } = route.useParams();
  const mayCall = useScope('calls');
  const [isOpen, dialog] = useDisclosure();
  const { data: campaign, error } = useCampaign(projectId, campaignId);
  useCampaignEvents(projectId, campaignId);
  if (!campaign) return error ? <ErrorPage error={error} /> : <Loader aria-label={texts.loading} />;
  return (
    <Stack>
      <PageLink to="/projects/$projectId/campaigns" params={{ projectId }}>
        {texts.back}
      </PageLink>
      <Group justify="space-between">
        <Group miw={0}>
          <PageTitle>{campaign.name}</PageTitle>
          <CampaignStatus status={campaign.status} />
          {campaign.statusReason !== undefined && (
            <Text size="sm">{codeText('campaignReason', campaign.statusReason)}</Text>
          )}
        </Group>
        {mayCall && (
          <Group gap="xs">
            {isAtRest(campaign) && (
              <Button variant="default" onClick={dialog.open}>
                {texts.settings}
              </Button>
            )}
            {!isOver(campaign) && <RehearseButton projectId={projectId} campaign={campaign} />}
            <CampaignActions projectId={projectId} campaign={campaign} />
          </Group>
        )}
      </Group>
      <CampaignProgress projectId={projectId} campaign={campaign} />
      {mayCall && !isOver(campaign) && (
        <ImportList
          target={{
            kind: 'contacts',
            projectId,
            path: `/v1/projects/${projectId}/campaigns/${campaignId}/contacts`,
            queryKey: ['campaigns', projectId],
          }}
        />
      )}
      <ImportHistory projectId={projectId} campaignId={campaignId} />
      {isAtRest(campaign) && <FirstCalls projectId={projectId} campaign={campaign} />}
      <ContactTable projectId={projectId} campaign={campaign} mayRemove={mayCall && !isOver(campaign)} />
      <Modal opened={isOpen} onClose={dialog.close} title={texts.settings} size="xl">
        <CampaignForm projectId={projectId} campaign={campaign} onSaved={dialog.close} />
      </Modal>
    </Stack>
  );
}
