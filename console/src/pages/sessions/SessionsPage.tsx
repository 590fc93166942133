import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { Cross2Icon, MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { getRouteApi } from '@tanstack/react-router';

import { codeText } from '../../codes/codeText.ts';
import { FilterSelect } from '../../components/FilterSelect.tsx';
import { formatDateTime } from '../../formats.ts';
import { PageTitle } from '../../layout/PageTitle.tsx';
import { textsIn } from '../../texts.ts';
import { SessionFilterPanel } from './SessionFilterPanel.tsx';
import { SessionTable } from './SessionTable.tsx';
import { readSessionSearch, type SessionSearch, STATUSES } from './sessionSearch.ts';

const route = getRouteApi('/projects/$projectId/sessions');
/** After the last key. */
const SEARCH_AFTER_MS = 300;

const texts = textsIn({
  en: {
    title: 'Conversations',
    about: 'All that the agent had, on the phone, in the browser and in writing.',
    said: 'Words that were said',
    status: 'Status',
    span: (from: string, to: string) => `From ${from} to ${to}`,
    begin: 'the beginning',
    now: 'now',
    wholeTime: 'Of all times',
  },
  'zh-TW': {
    title: '對話紀錄',
    about: '代理的所有對話，包括電話、瀏覽器與文字。',
    said: '說過的話',
    status: '狀態',
    span: (from: string, to: string) => `從 ${from} 到 ${to}`,
    begin: '最早',
    now: '現在',
    wholeTime: '不限時間',
  },
});

/** Past and live conversations, found by what they came to and what was said. */
export function SessionsPage() {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  return (
    <Stack>
      <PageTitle>{texts.title}</PageTitle>
      <Text size="sm" c="dimmed">
        {texts.about}
      </Text>
      <Filters projectId={projectId} search={search} />
      <SessionTable projectId={projectId} search={search} />
    </Stack>
  );
}

function Filters({ projectId, search }: { projectId: string; search: SessionSearch }) {
  const navigate = route.useNavigate();
  const set = (change: SessionSearch) =>
    void navigate({ search: (before) => readSessionSearch({ ...before, ...change }), replace: true });
  const setLater = useDebouncedCallback(set, SEARCH_AFTER_MS);
  const { from, to } = search;
  return (
    <>
      <SessionFilterPanel projectId={projectId} value={search} onChange={set}>
        <TextInput
          label={texts.said}
          leftSection={<MagnifyingGlassIcon />}
          defaultValue={search.q ?? ''}
          maxLength={500}
          onChange={(event) => setLater({ q: event.currentTarget.value })}
          flex="1 1 220px"
        />
        <FilterSelect
          label={texts.status}
          options={STATUSES.map((status) => [status, codeText('sessionStatus', status)] as const)}
          value={search.status}
          onChange={(status) => set({ status })}
        />
      </SessionFilterPanel>
      {(from !== undefined || to !== undefined) && (
        <Group gap="xs">
          <Text size="sm">
            {texts.span(from ? formatDateTime(from) : texts.begin, to ? formatDateTime(to) : texts.now)}
          </Text>
          <Button
            variant="default"
            size="compact-xs"
            leftSection={<Cross2Icon />}
            onClick={() => set({ from: undefined, to: undefined })}
          >
            {texts.wholeTime}
          </Button>
        </Group>
      )}
    </>
  );
}
