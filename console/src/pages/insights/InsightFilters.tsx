import { Button, Collapse, Group, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { codeText } from '../../codes/codeText.ts';
import { textsIn } from '../../texts.ts';
import { agentQuery } from '../agent/agentQueries.ts';
import { releasesQuery, releaseText } from '../releases/releaseData.ts';
import { FILTERS, type Filter, type InsightSearch, RANGES } from './insightSearch.ts';

const CUSTOM = 'dates';

const texts = textsIn({
  en: {
    filters: 'Filters',
    show: (count: number) => (count === 0 ? 'Filters' : `Filters (${count})`),
    clear: 'Clear the filters',
    range: 'Time',
    days: (days: number) => (days === 1 ? 'Today' : `The last ${days} days`),
    dates: 'Dates',
    from: 'From',
    to: 'To',
    any: 'Any',
    release: 'Release',
    disposition: 'Disposition',
    success: 'Success',
    yes: 'Yes',
    no: 'No',
    channel: 'Channel',
    direction: 'Direction',
    inbound: 'Inbound',
    outbound: 'Outbound',
    endReason: 'How it ended',
    trunkId: 'Trunk (ID)',
    campaignId: 'Campaign (ID)',
    language: 'Language',
  },
  'zh-TW': {
    filters: '篩選',
    show: (count: number) => (count === 0 ? '篩選' : `篩選（${count}）`),
    clear: '清除篩選',
    range: '時間',
    days: (days: number) => (days === 1 ? '今天' : `最近 ${days} 天`),
    dates: '指定日期',
    from: '從',
    to: '到',
    any: '全部',
    release: '版本',
    disposition: '結果分類',
    success: '成功',
    yes: '是',
    no: '否',
    channel: '管道',
    direction: '方向',
    inbound: '來電',
    outbound: '撥出',
    endReason: '結束原因',
    trunkId: '中繼線（ID）',
    campaignId: '外撥活動（ID）',
    language: '語言',
  },
});

/** Written by hand, such as ids. */
const TYPED = ['endReason', 'language', 'trunkId', 'campaignId'] as const satisfies Filter[];

interface InsightFiltersProps {
  readonly projectId: string;
  readonly search: InsightSearch;
  onChange(change: InsightSearch): void;
}

/** Which conversations count, and of what time. */
export function InsightFilters({ projectId, search, onChange }: InsightFiltersProps) {
  const { days = 30, from, to } = search;
  const isCustom = from !== undefined || to !== undefined;
  const given = FILTERS.filter((name) => search[name] !== undefined);
  const [isOpen, panel] = useDisclosure(given.length > 0);
  const chooseRange = (value: string) =>
    value === CUSTOM
      ? onChange({ days: undefined, from: dateOf(-(days - 1)), to: dateOf(0) })
      : onChange({ days: RANGES.find((one) => String(one) === value), from: undefined, to: undefined });
  return (
    <Stack gap="xs" role="search" aria-label={texts.filters}>
      <Group gap="sm" align="flex-end">
        <NativeSelect
          label={texts.range}
          data={[
            ...RANGES.map((range) => ({ value: String(range), label: texts.days(range) })),
            { value: CUSTOM, label: texts.dates },
          ]}
          value={isCustom ? CUSTOM : String(days)}
          onChange={(event) => chooseRange(event.currentTarget.value)}
        />
        {isCustom &&
          (['from', 'to'] as const).map((name) => (
            <TextInput
              key={name}
              type="date"
              label={texts[name]}
              value={search[name] ?? ''}
              onChange={(event) => onChange({ [name]: event.currentTarget.value || undefined })}
            />
          ))}
        <Button variant="default" onClick={panel.toggle} aria-expanded={isOpen}>
          {texts.show(given.length)}
        </Button>
        {given.length > 0 && (
          <Button
            variant="subtle"
            onClick={() => onChange(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}
          >
            {texts.clear}
          </Button>
        )}
      </Group>
      <Collapse expanded={isOpen}>
        <FilterFields projectId={projectId} search={search} onChange={onChange} />
      </Collapse>
    </Stack>
  );
}

function FilterFields({ projectId, search, onChange }: InsightFiltersProps) {
  const api = useApi();
  const { data: releases = [] } = useInfiniteQuery(releasesQuery(api, projectId));
  const { data: agent } = useQuery(agentQuery(api, projectId));
  const dispositions = (agent?.analysis?.dispositions ?? []).map(({ value }) => [value, value] as const);
  const choose = (name: Filter, options: readonly (readonly [string, string])[]) => {
    const value = search[name] ?? '';
    const known = value === '' || options.some(([one]) => one === value);
    return (
      <NativeSelect
        key={name}
        label={texts[name]}
        data={[
          { value: '', label: texts.any },
          ...[...options, ...(known ? [] : [[value, value] as const])].map(([one, label]) => ({
            value: one,
            label,
          })),
        ]}
        value={value}
        onChange={(event) => onChange({ [name]: event.currentTarget.value || undefined })}
        maw={240}
      />
    );
  };
  return (
    <Group gap="sm" align="flex-end">
      {choose('release', [
        ...releases.map(({ release }) => [String(release), releaseText(release)] as const),
        ['draft', releaseText('draft')],
      ])}
      {choose('disposition', dispositions)}
      {choose('success', [
        ['true', texts.yes],
        ['false', texts.no],
      ])}
      {choose(
        'channel',
        (['phone', 'chat', 'web'] as const).map((channel) => [channel, codeText('channel', channel)]),
      )}
      {choose('direction', [
        ['inbound', texts.inbound],
        ['outbound', texts.outbound],
      ])}
      {TYPED.map((name) => (
        <TextInput
          key={`${name} ${search[name] ?? ''}`}
          label={texts[name]}
          defaultValue={search[name] ?? ''}
          maxLength={255}
          onBlur={(event) => onChange({ [name]: event.currentTarget.value || undefined })}
          onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
          maw={200}
        />
      ))}
    </Group>
  );
}

/** A date in UTC. @param days - From today on. */
function dateOf(days: number): string {
  const date = new Date();
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}
