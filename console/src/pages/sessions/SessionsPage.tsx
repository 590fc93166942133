import { Button, Group, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { Cross2Icon, MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';

import { useApi } from '../../api/apiContext.tsx';
import { codeText } from '../../codes/codeText.ts';
import { formatDateTime } from '../../formats.ts';
import { textsIn } from '../../texts.ts';
import { agentQuery } from '../agent/agentQueries.ts';
import { releasesQuery, releaseText } from '../releases/releaseData.ts';
import { SessionTable } from './SessionTable.tsx';
import { CHANNELS, readSessionSearch, type SessionSearch } from './sessionSearch.ts';

const route = getRouteApi('/projects/$projectId/sessions');
/** After the last key. */
const SEARCH_AFTER_MS = 300;

const texts = textsIn({
  en: {
    title: 'Conversations',
    about: 'All that the agent had, on the phone, in the browser and in writing.',
    filters: 'Filters',
    said: 'Words that were said',
    release: 'Release',
    disposition: 'Disposition',
    success: 'Success',
    channel: 'Channel',
    any: 'Any',
    yes: 'Yes',
    no: 'No',
    span: (from: string, to: string) => `From ${from} to ${to}`,
    begin: 'the beginning',
    now: 'now',
    wholeTime: 'Of all times',
  },
  'zh-TW': {
    title: '對話紀錄',
    about: '代理的所有對話，包括電話、瀏覽器與文字。',
    filters: '篩選',
    said: '說過的話',
    release: '版本',
    disposition: '結果分類',
    success: '成功',
    channel: '管道',
    any: '全部',
    yes: '是',
    no: '否',
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
      <Title order={1} size="h2">
        {texts.title}
      </Title>
      <Text size="sm" c="dimmed">
        {texts.about}
      </Text>
      <Filters projectId={projectId} search={search} />
      <SessionTable projectId={projectId} search={search} />
    </Stack>
  );
}

function Filters({ projectId, search }: { projectId: string; search: SessionSearch }) {
  const api = useApi();
  const navigate = route.useNavigate();
  const set = (change: SessionSearch) =>
    void navigate({ search: (before) => readSessionSearch({ ...before, ...change }), replace: true });
  const setLater = useDebouncedCallback(set, SEARCH_AFTER_MS);
  const { data: releases = [] } = useInfiniteQuery(releasesQuery(api, projectId));
  const { data: agent } = useQuery(agentQuery(api, projectId));
  const dispositions = agent?.analysis?.dispositions ?? [];
  const { from, to } = search;
  const choose = (
    name: 'release' | 'disposition' | 'success' | 'channel',
    options: readonly (readonly [string, string])[],
  ) => {
    const value = search[name] ?? '';
    const isKnown = value === '' || options.some(([one]) => one === value);
    const all = isKnown ? options : [...options, [value, value] as const];
    return (
      <NativeSelect
        label={texts[name]}
        data={[{ value: '', label: texts.any }, ...all.map(([one, label]) => ({ value: one, label }))]}
        value={value}
        onChange={(event) => set({ [name]: event.currentTarget.value })}
        maw={240}
      />
    );
  };
  return (
    <Stack gap="xs" role="search" aria-label={texts.filters}>
      <Group gap="sm" align="flex-end">
        <TextInput
          label={texts.said}
          leftSection={<MagnifyingGlassIcon />}
          defaultValue={search.q ?? ''}
          maxLength={500}
          onChange={(event) => setLater({ q: event.currentTarget.value })}
          flex="1 1 220px"
        />
        {choose('release', [
          ...releases.map(({ release }) => [String(release), releaseText(release)] as const),
          ['draft', releaseText('draft')],
        ])}
        {choose(
          'disposition',
          dispositions.map(({ value }) => [value, value]),
        )}
        {choose('success', [
          ['true', texts.yes],
          ['false', texts.no],
        ])}
        {choose(
          'channel',
          CHANNELS.map((channel) => [channel, codeText('channel', channel)]),
        )}
      </Group>
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
    </Stack>
  );
}
