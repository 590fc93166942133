import { Anchor, Group, Progress, SimpleGrid, Stack, Text } from '@mantine/core';

import { codeText } from '../../codes/codeText.ts';
import { Section } from '../../components/Section.tsx';
import { formatCost, formatNumber } from '../../formats.ts';
import { PageLink } from '../../layout/links.tsx';
import { COLON, textsIn } from '../../texts.ts';
import { type Campaign, CONTACT_STATUSES, OUTCOMES } from './campaignData.ts';

const texts = textsIn({
  en: {
    title: 'Progress',
    none: 'No contact yet: add some below.',
    finished: (over: string, total: string) => `${over} of ${total} contacts are finished`,
    cost: 'Cost so far',
    calls: 'Show its calls',
    report: 'Download the report (CSV)',
    outcomes: 'Last outcomes',
    statuses: 'Contacts',
  },
  'zh-TW': {
    title: '進度',
    none: '尚無聯絡人：請在下方新增。',
    finished: (over: string, total: string) => `${total} 位聯絡人中有 ${over} 位已結束`,
    cost: '目前費用',
    calls: '顯示其通話',
    report: '下載報告（CSV）',
    outcomes: '最近一次結果',
    statuses: '聯絡人',
  },
});

/** How far a campaign is, by status and by outcome. */
export function CampaignProgress({ projectId, campaign }: { projectId: string; campaign: Campaign }) {
  const { id, counts, outcomes, cost } = campaign;
  const called = OUTCOMES.filter((outcome) => outcomes[outcome] > 0);
  const over = counts.done + counts.skipped;
  return (
    <Section
      title={texts.title}
      description={
        counts.total === 0 ? texts.none : texts.finished(formatNumber(over), formatNumber(counts.total))
      }
    >
      <Progress
        size="lg"
        value={counts.total === 0 ? 0 : (100 * over) / counts.total}
        aria-label={texts.title}
      />
      <Figures
        label={texts.statuses}
        figures={CONTACT_STATUSES.map((status) => [codeText('contactStatus', status), counts[status]])}
      />
      {called.length > 0 && (
        <Figures
          label={texts.outcomes}
          figures={called.map((outcome) => [codeText('contactOutcome', outcome), outcomes[outcome]])}
        />
      )}
      {cost && (
        <Text size="sm">
          {texts.cost}
          {COLON}
          {[cost, ...(cost.others ?? [])].map(formatCost).join(' + ')}
        </Text>
      )}
      {counts.total > 0 && (
        <Group>
          <PageLink
            to="/projects/$projectId/calls"
            params={{ projectId }}
            search={{ campaignId: id }}
            size="sm"
          >
            {texts.calls}
          </PageLink>
          <Anchor href={`/v1/projects/${projectId}/campaigns/${id}/report`} download="report.csv" size="sm">
            {texts.report}
          </Anchor>
        </Group>
      )}
    </Section>
  );
}

function Figures({
  label,
  figures,
}: {
  label: string;
  figures: readonly (readonly [name: string, count: number])[];
}) {
  return (
    <Stack gap={4} role="group" aria-label={label}>
      <Text size="sm" fw={600}>
        {label}
      </Text>
      <SimpleGrid cols={{ base: 2, xs: 3, md: 5 }} spacing="xs">
        {figures.map(([name, count]) => (
          <Group key={name} gap={6}>
            <Text size="sm" c="dimmed">
              {name}
            </Text>
            <Text size="sm" fw={600}>
              {formatNumber(count)}
            </Text>
          </Group>
        ))}
      </SimpleGrid>
    </Stack>
  );
}
