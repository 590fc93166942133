import { Stack, Tabs } from '@mantine/core';

import { useProjectId } from '../../components/useProjectId.ts';
import { PageTitle } from '../../layout/PageTitle.tsx';
import { textsIn } from '../../texts.ts';
import { CampaignList } from './CampaignList.tsx';
import { DoNotCall } from './DoNotCall.tsx';

const texts = textsIn({
  en: { title: 'Campaigns', campaigns: 'Campaigns', doNotCall: 'Do not call' },
  'zh-TW': { title: '外撥活動', campaigns: '外撥活動', doNotCall: '勿撥名單' },
});

/** The lists of people that are called, and of those that are not. */
export function CampaignsPage() {
  const projectId = useProjectId();
  return (
    <Stack>
      <PageTitle>{texts.title}</PageTitle>
      <Tabs defaultValue="campaigns" keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="campaigns">{texts.campaigns}</Tabs.Tab>
          <Tabs.Tab value="doNotCall">{texts.doNotCall}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="campaigns">
          <CampaignList projectId={projectId} />
        </Tabs.Panel>
        <Tabs.Panel value="doNotCall">
          <DoNotCall projectId={projectId} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}
