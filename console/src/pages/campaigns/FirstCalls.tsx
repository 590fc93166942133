import { List, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { codeText } from '../../codes/codeText.ts';
import { Section } from '../../components/Section.tsx';
import { formatNumber } from '../../formats.ts';
import { COLON, textsIn } from '../../texts.ts';
import {
  type Campaign,
  type Contact,
  type ContactFilters,
  fetchContacts,
  nextAttemptText,
} from './campaignData.ts';
import { countBy, countsText } from './counts.ts';

/** Contacts that are looked at. */
const LOOKED_AT = 200;
const SHOWN_TIMES = 5;
const SHOWN_NUMBERS = 3;

const texts = textsIn({
  en: {
    title: 'What goes out when',
    about: 'When contacts may be called, once the campaign runs, and who is not called.',
    first: (count: string) => `Looked at: the first ${count} contacts that wait.`,
    never: 'Never, as no hour allows it; open more hours in the settings',
    contacts: (count: string, numbers: string) => `${count} (${numbers})`,
    later: (count: string) => `Later: ${count}`,
    skipped: 'Not called',
    firstSkipped: (count: string) => `Of the first ${count} that are not called`,
  },
  'zh-TW': {
    title: '撥出的時間',
    about: '活動執行後，聯絡人可撥打的時間，以及不會撥打的人。',
    first: (count: string) => `依前 ${count} 位等待中的聯絡人計算。`,
    never: '不會撥打，因為沒有允許的時段；請在設定中開放更多時段',
    contacts: (count: string, numbers: string) => `${count} 位（${numbers}）`,
    later: (count: string) => `之後：${count} 位`,
    skipped: '不會撥打',
    firstSkipped: (count: string) => `前 ${count} 位不會撥打的聯絡人`,
  },
});

/** When contacts of a campaign that is at rest may be called, and why some are not; nothing without contacts. */
export function FirstCalls({ projectId, campaign }: { projectId: string; campaign: Campaign }) {
  const { pending, waiting, skipped } = campaign.counts;
  const { data: next } = useContacts(projectId, campaign, pending > 0 ? 'pending' : 'waiting');
  const { data: passed } = useContacts(projectId, campaign, 'skipped');
  const contacts = next?.data ?? [];
  const groups = groupsByTime(contacts.filter(({ nextAttemptAt }) => nextAttemptAt !== undefined));
  const never = contacts.filter(({ nextAttemptAt }) => nextAttemptAt === undefined);
  const reasons =
    passed && countBy(passed.data, ({ skipReason = 'removed' }) => codeText('skipReason', skipReason));
  if (contacts.length === 0 && !reasons?.size) return null;
  const later = groups.slice(SHOWN_TIMES).reduce((sum, group) => sum + group.contacts.length, 0);
  return (
    <Section title={texts.title} description={texts.about}>
      {pending + waiting > LOOKED_AT && (
        <Text size="sm" c="dimmed">
          {texts.first(formatNumber(LOOKED_AT))}
        </Text>
      )}
      <List size="sm">
        {groups.slice(0, SHOWN_TIMES).map((group) => (
          <List.Item key={group.time}>{group.time + COLON + contactsText(group.contacts)}</List.Item>
        ))}
        {later > 0 && <List.Item>{texts.later(formatNumber(later))}</List.Item>}
        {never.length > 0 && <List.Item>{texts.never + COLON + contactsText(never)}</List.Item>}
      </List>
      {reasons !== undefined && reasons.size > 0 && (
        <Text size="sm">
          {skipped > LOOKED_AT ? texts.firstSkipped(formatNumber(LOOKED_AT)) : texts.skipped}
          {COLON}
          {countsText(reasons)}
        </Text>
      )}
    </Section>
  );
}

function useContacts(projectId: string, { id: campaignId }: Campaign, status: ContactFilters['status']) {
  const api = useApi();
  return useQuery({
    queryKey: ['campaigns', projectId, campaignId, 'first', status],
    queryFn: () => fetchContacts(api, { projectId, campaignId }, { status }, { limit: `${LOOKED_AT}` }),
  });
}

/** The contacts by the time at which they may be called, the earliest first. */
function groupsByTime(contacts: readonly Contact[]): { time: string; contacts: Contact[] }[] {
  const at = ({ nextAttemptAt = '' }: Contact) => Date.parse(nextAttemptAt);
  const groups = new Map<string, Contact[]>();
  for (const contact of contacts.toSorted((one, other) => at(one) - at(other))) {
    const time = nextAttemptText(contact.nextAttemptAt);
    groups.set(time, [...(groups.get(time) ?? []), contact]);
  }
  return [...groups].map(([time, some]) => ({ time, contacts: some }));
}

/** How many they are, and the first numbers. */
function contactsText(contacts: readonly Contact[]): string {
  const numbers = contacts.slice(0, SHOWN_NUMBERS).map(({ toNumber }) => toNumber);
  const more = contacts.length > SHOWN_NUMBERS ? ['…'] : [];
  return texts.contacts(formatNumber(contacts.length), [...numbers, ...more].join(', '));
}
