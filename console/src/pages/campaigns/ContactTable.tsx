import { Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { codeText } from '../../codes/codeText.ts';
import { ConfirmButton } from '../../components/ConfirmButton.tsx';
import { FilterSelect } from '../../components/FilterSelect.tsx';
import { listQuery, PagedTable } from '../../components/PagedTable.tsx';
import { Section } from '../../components/Section.tsx';
import { formatDateTime, formatDuration } from '../../formats.ts';
import { PageLink } from '../../layout/links.tsx';
import { textsIn } from '../../texts.ts';
import {
  type Campaign,
  CONTACT_STATUSES,
  type Contact,
  type ContactFilters,
  fetchContacts,
  nextAttemptText,
  OUTCOMES,
  REFRESH_MS,
} from './campaignData.ts';

/** After the last key. */
const SEARCH_AFTER_MS = 300;

const texts = textsIn({
  en: {
    title: 'Contacts',
    none: 'No contact yet. Drop a file with their numbers above.',
    noMatch: 'No contact matches.',
    filters: 'Filters',
    status: 'Status',
    outcome: 'Outcome',
    number: 'Number',
    externalId: 'Your id',
    attempts: 'Attempts',
    next: 'Next attempt',
    actions: 'Actions',
    remove: 'Remove',
    removeQuestion: (number: string) => `Remove ${number} from the campaign? It is not called any more.`,
    inProgress: 'in progress',
  },
  'zh-TW': {
    title: '聯絡人',
    none: '尚無聯絡人。請在上方放入含有號碼的檔案。',
    noMatch: '沒有符合的聯絡人。',
    filters: '篩選',
    status: '狀態',
    outcome: '結果',
    number: '號碼',
    externalId: '您的識別碼',
    attempts: '撥打紀錄',
    next: '下次撥打',
    actions: '操作',
    remove: '移除',
    removeQuestion: (number: string) => `要從活動移除 ${number} 嗎？之後不再撥打。`,
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
  const pages = useInfiniteQuery({
    ...listQuery(['campaigns', projectId, campaign.id, 'contacts', applied], (page) =>
      fetchContacts(api, path, applied, page),
    ),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Section title={texts.title}>
      <Filters filters={filters} set={(change) => setFilters((before) => ({ ...before, ...change }))} />
      <PagedTable
        label={texts.title}
        pages={pages}
        none={campaign.counts.total === 0 ? texts.none : texts.noMatch}
        minWidth={640}
        headings={[texts.number, texts.status, texts.attempts, texts.next, mayRemove && texts.actions]}
      >
        {(contact) => (
          <Row
            key={contact.id}
            projectId={projectId}
            campaignId={campaign.id}
            contact={contact}
            mayRemove={mayRemove}
          />
        )}
      </PagedTable>
    </Section>
  );
}

interface FiltersProps {
  readonly filters: ContactFilters;
  readonly set: (change: ContactFilters) => void;
}

function Filters({ filters, set }: FiltersProps) {
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label={texts.filters}>
      <FilterSelect
        label={texts.status}
        options={CONTACT_STATUSES.map((status) => [status, codeText('contactStatus', status)] as const)}
        value={filters.status}
        onChange={(status) => set({ status })}
      />
      <FilterSelect
        label={texts.outcome}
        options={OUTCOMES.map((outcome) => [outcome, codeText('contactOutcome', outcome)] as const)}
        value={filters.outcome ?? undefined}
        onChange={(outcome) => set({ outcome })}
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
      <Table.Td>
        {toNumber}
        {externalId !== undefined && (
          <Text size="xs" c="dimmed" maw={180} style={{ overflowWrap: 'anywhere' }}>
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
      <Table.Td>{nextAttemptAt !== undefined && nextAttemptText(nextAttemptAt)}</Table.Td>
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
