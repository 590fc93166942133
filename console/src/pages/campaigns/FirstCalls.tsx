import { List } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { Section } from '../../components/Section.tsx';
import { formatDateTime } from '../../formats.ts';
import { COLON, textsIn } from '../../texts.ts';
import { type Campaign, fetchContacts } from './campaignData.ts';

const SHOWN = 5;

const texts = textsIn({
  en: {
    title: 'What goes out when',
    about: 'When the first contacts may be called, once the campaign runs.',
    now: 'at once',
    never: 'never: no hour allows it. Open more hours in the settings.',
  },
  'zh-TW': {
    title: '撥出的時間',
    about: '活動執行後，前幾位聯絡人可撥打的時間。',
    now: '立即',
    never: '不會撥打：沒有允許的時段。請在設定中開放更多時段。',
  },
});

/** When the first contacts of a campaign that is at rest may be called; nothing without contacts. */
export function FirstCalls({ projectId, campaign }: { projectId: string; campaign: Campaign }) {
  const api = useApi();
  const path = { projectId, campaignId: campaign.id };
  const { data } = useQuery({
    queryKey: ['campaigns', projectId, campaign.id, 'first'],
    queryFn: () => fetchContacts(api, path, { status: 'pending' }, { limit: SHOWN }),
  });
  if (!data || data.data.length === 0) return null;
  return (
    <Section title={texts.title} description={texts.about}>
      <List size="sm">
        {data.data.map(({ id, toNumber, nextAttemptAt }) => (
          <List.Item key={id}>
            {toNumber}
            {COLON}
            {timeText(nextAttemptAt)}
          </List.Item>
        ))}
      </List>
    </Section>
  );
}

function timeText(nextAttemptAt: string | undefined): string {
  if (nextAttemptAt === undefined) return texts.never;
  return Date.parse(nextAttemptAt) <= Date.now() ? texts.now : formatDateTime(nextAttemptAt);
}
