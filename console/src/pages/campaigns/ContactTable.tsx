import { Button, Group, Loader, NativeSelect, Stack, Table, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { codeText } from '../../codes/codeText.ts';
import { ConfirmButton } from '../../components/ConfirmButton.tsx';
import { Section } from '../../components/Section.tsx';
import { formatDateTime, formatDuration, formatNumber } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageLink } from '../../layout/links.tsx';
import { textsIn } from '../../texts.ts';
import {
  type Campaign,
  CONTACT_STATUSES,
  type Contact,
  type ContactFilters,
  fetchContacts,
  OUTCOMES,
  REFRESH_MS,
} from './campaignData.ts';

const PAGE_SIZE = 50;
/** After the last key. */
const SEARCH_AFTER_MS = 300;

const texts = textsIn({
  en: {
    title: 'Contacts',
    none: 'No contact yet. Drop a file with their numbers above.',
    noMatch: 'No contact matches.',
    filters: 'Filters',
    any: 'Any',
    status: 'Status',
    outcome: 'Outcome',
    number: 'Number',
    externalId: 'Your id',
    attempts: 'Attempts',
    next: 'Next attempt',
    actions: 'Actions',
    remove: 'Remove',
    removeQuestion: (number: string) => `Remove ${number} from the campaign? It is not called any more.`,
    more: 'Load more',
    count: (shown: string, total: string) => `${shown} of ${total}`,
    inProgress: 'in progress',
  },
  'zh-TW': {
    title: '聯絡人',
    none: '尚無聯絡人。請在上方放入含有號碼的檔案。',
    noMatch: '沒有符合的聯絡人。',
    filters: '篩選',
    any: '全部',
    status: '狀態',
    outcome: '結果',
    number: '號碼',
    externalId: '您的識別碼',
    attempts: '撥打紀錄',
    next: '下次撥打',
    actions: '操作',
    remove: '移除',
    removeQuestion: (number: string) => `要從活動移除 ${number} 嗎？之後不再撥打。`,
    more: '載入更多',
    count: (shown: string, total: string) => `${shown} / ${total}`,
    inProgress: '進行中',
  },
});

interface ContactTableProps {
  readonly projectId: string;
  readonly campaign: Campaign;
  readonly mayRemove: boolean;
}

/** The contacts of a campaign with their attempts, found by what became of them. */
export function ContactTable({ projectId, campaign, mayRemove }: ContactTableProps) {
  const api = useApi();
  const [filters, setFilters] = useState<ContactFilters>({});
  const [applied] = useDebouncedValue(filters, SEARCH_AFTER_MS);
  const path = { projectId, campaignId: campaign.id };
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['campaigns', projectId, campaign.id, 'contacts', applied],
    queryFn: ({ pageParam }) =>
      fetchContacts(api, path, applied, { limit: PAGE_SIZE, cursor: pageParam || undefined }),
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => pagination.nextCursor,
    refetchInterval: REFRESH_MS,
  });
  const contacts = data?.pages.flatMap((page) => page.data) ?? [];
  const total = data?.pages[0]?.pagination.total ?? 0;
  return (
    <Section title={texts.title}>
      <Filters filters={filters} set={(change) => setFilters((before) => ({ ...before, ...change }))} />
      {!data && (error ? <ErrorPage error={error} /> : <Loader aria-label={texts.title} />)}
      {data && contacts.length === 0 && (
        <Text>{campaign.counts.total === 0 ? texts.none : texts.noMatch}</Text>
      )}
      {contacts.length > 0 && (
        <Table.ScrollContainer minWidth={640}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{texts.number}</Table.Th>
                <Table.Th>{texts.status}</Table.Th>
                <Table.Th>{texts.attempts}</Table.Th>
                <Table.Th>{texts.next}</Table.Th>
                {mayRemove && <Table.Th>{texts.actions}</Table.Th>}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {contacts.map((contact) => (
                <Row
                  key={contact.id}
                  projectId={projectId}
                  campaignId={campaign.id}
                  contact={contact}
                  mayRemove={mayRemove}
                />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {contacts.length > 0 && (
        <Text size="sm" c="dimmed">
          {texts.count(formatNumber(contacts.length), formatNumber(total))}
        </Text>
      )}
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {texts.more}
        </Button>
      )}
    </Section>
  );
}

interface FiltersProps {
  readonly filters: ContactFilters;
  readonly set: (change: ContactFilters) => void;
}

function Filters({ filters, set }: FiltersProps) {
  const options = (kind: 'contactStatus' | 'contactOutcome', codes: readonly string[]) => [
    { value: '', label: texts.any },
    ...codes.map((value) => ({ value, label: codeText(kind, value) })),
  ];
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label={texts.filters}>
      <NativeSelect
        label={texts.status}
        data={options('contactStatus', CONTACT_STATUSES)}
        value={filters.status ?? ''}
        onChange={({ currentTarget: { value } }) =>
          set({ status: CONTACT_STATUSES.find((status) => status === value) })
        }
      />
      <NativeSelect
        label={texts.outcome}
        data={options('contactOutcome', OUTCOMES)}
        value={filters.outcome ?? ''}
        onChange={({ currentTarget: { value } }) =>
          set({ outcome: OUTCOMES.find((outcome) => outcome === value) })
        }
      />
      <TextInput
        label={texts.number}
        inputMode="tel"
        maxLength={64}
        value={filters.toNumber ?? ''}
        onChange={(event) => set({ toNumber: event.currentTarget.value.trim() })}
      />
      <TextInput
        label={texts.externalId}
        value={filters.externalId ?? ''}
        onChange={(event) => set({ externalId: event.currentTarget.value.trim() })}
      />
    </Group>
  );
}

interface RowProps {
  readonly projectId: string;
  readonly campaignId: string;
  readonly contact: Contact;
  readonly mayRemove: boolean;
}

function Row({ projectId, campaignId, contact, mayRemove }: RowProps) {
  const api = useApi();
  const queries = useQueryClient();
  const { id, toNumber, externalId, status, skipReason, attempts, nextAttemptAt } = contact;
  const remove = async () => {
    await api.DELETE('/v1/projects/{projectId}/campaigns/{campaignId}/contacts/{contactId}', {
      params: { path: { projectId, campaignId, contactId: id } },
    });
    await queries.invalidateQueries({ queryKey: ['campaigns', projectId] });
  };
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        {toNumber}
        {externalId !== undefined && (
          <Text size="xs" c="dimmed">
            {externalId}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {codeText('contactStatus', status)}
        {skipReason !== undefined && <Text size="xs">{codeText('skipReason', skipReason)}</Text>}
      </Table.Td>
      <Table.Td>
        <Stack gap={2}>
          {attempts.map(({ callId, at, outcome, durationMs }) => (
            <Text size="sm" key={callId}>
              <PageLink to="/projects/$projectId/calls/$callId" params={{ projectId, callId }}>
                {formatDateTime(at)}
              </PageLink>{' '}
              {outcome === null ? texts.inProgress : codeText('contactOutcome', outcome)}
              {durationMs ? ` ${formatDuration(durationMs)}` : ''}
            </Text>
          ))}
        </Stack>
      </Table.Td>
      <Table.Td>{nextAttemptAt === undefined ? '' : formatDateTime(nextAttemptAt)}</Table.Td>
      {mayRemove && (
        <Table.Td>
          {status !== 'done' && status !== 'skipped' && (
            <ConfirmButton
              question={texts.removeQuestion(toNumber)}
              action={remove}
              aria-label={`${texts.remove} ${toNumber}`}
            >
              {texts.remove}
            </ConfirmButton>
          )}
        </Table.Td>
      )}
    </Table.Tr>
  );
}
