import { Button, Modal, Progress, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { listQuery, PagedTable } from '../../components/PagedTable.tsx';
import { Section } from '../../components/Section.tsx';
import { formatDateTime, formatNumber } from '../../formats.ts';
import { PageLink } from '../../layout/links.tsx';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';
import { CampaignForm } from './CampaignForm.tsx';
import { CampaignStatus } from './CampaignStatus.tsx';
import { type Campaign, REFRESH_MS, useCampaignEvents } from './campaignData.ts';

const texts = textsIn({
  en: {
    title: 'Lists of people to call',
    about: 'Each person is called once, within the hours that you allow, and the outcome comes back.',
    none: 'No campaign yet. Create one, drop a CSV or XLSX file with the numbers into it, look at when the first calls go out, and start it.',
    create: 'Create a campaign',
    name: 'Name',
    status: 'Status',
    progress: 'Finished contacts',
    created: 'Created',
    finished: (over: string, total: string) => `${over} of ${total}`,
  },
  'zh-TW': {
    title: '要撥打的名單',
    about: '在您允許的時段內撥給每個人，並記錄結果；同一通不會重複撥打。',
    none: '尚無外撥活動。請建立一個，放入含有號碼的 CSV 或 XLSX 檔案，確認第一通電話的時間，然後開始。',
    create: '建立外撥活動',
    name: '名稱',
    status: '狀態',
    progress: '已結束的聯絡人',
    created: '建立時間',
    finished: (over: string, total: string) => `${over} / ${total}`,
  },
});

/** The campaigns, newest first. */
export function CampaignList({ projectId }: { projectId: string }) {
  const api = useApi();
  const navigate = useNavigate();
  const mayCall = useScope('calls');
  const [isOpen, dialog] = useDisclosure();
  const pages = useInfiniteQuery({
    ...listQuery(['campaigns', projectId], (page) =>
      bodyOf(api.GET('/v1/projects/{projectId}/campaigns', { params: { path: { projectId }, query: page } })),
    ),
    refetchInterval: REFRESH_MS,
  });
  useCampaignEvents(projectId);
  const openCampaign = ({ id }: Campaign) =>
    navigate({ to: '/projects/$projectId/campaigns/$campaignId', params: { projectId, campaignId: id } });
  return (
    <Section
      title={texts.title}
      description={texts.about}
      actions={mayCall && <Button onClick={dialog.open}>{texts.create}</Button>}
    >
      <PagedTable
        label={texts.title}
        pages={pages}
        none={texts.none}
        headings={[texts.name, texts.status, texts.progress, { text: texts.created, isWide: true }]}
      >
        {(campaign) => <Row key={campaign.id} projectId={projectId} campaign={campaign} />}
      </PagedTable>
      <Modal opened={isOpen} onClose={dialog.close} title={texts.create} size="xl">
        <CampaignForm projectId={projectId} onSaved={openCampaign} />
      </Modal>
    </Section>
  );
}

function Row({ projectId, campaign }: { projectId: string; campaign: Campaign }) {
  const { id, name, status, counts, createdAt } = campaign;
  const over = counts.done + counts.skipped;
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        <PageLink to="/projects/$projectId/campaigns/$campaignId" params={{ projectId, campaignId: id }}>
          {name}
        </PageLink>
      </Table.Td>
      <Table.Td>
        <CampaignStatus status={status} />
      </Table.Td>
      <Table.Td>
        <Stack gap={4}>
          <Text size="sm">{texts.finished(formatNumber(over), formatNumber(counts.total))}</Text>
          <Progress
            value={counts.total === 0 ? 0 : (100 * over) / counts.total}
            aria-label={`${name}: ${texts.progress}`}
          />
        </Stack>
      </Table.Td>
      <Table.Td visibleFrom="sm">{formatDateTime(createdAt)}</Table.Td>
    </Table.Tr>
  );
}
