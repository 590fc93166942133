import { useInfiniteQuery, useQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { campaignNamesQuery, trunkNamesQuery } from '../../api/nameQueries.ts';
import { codeOptions, codeText } from '../../codes/codeText.ts';
import { FilterSelect, type Option, withoutText } from '../../components/FilterSelect.tsx';
import { languageText } from '../../formats.ts';
import { COLON, textsIn } from '../../texts.ts';
import { agentQuery, pathwayQuery } from '../agent/agentQueries.ts';
import { titleOf } from '../agent/pathway/graph.ts';
import { releasesQuery, releaseText } from '../releases/releaseData.ts';
import { CHANNELS, SESSION_FILTERS, type SessionFilter, type SessionFilters } from './sessionFilters.ts';

/** Every conversation has one of these. */
const ALWAYS: readonly SessionFilter[] = ['release', 'success', 'channel', 'endReason'];
/** Statuses of calls that have no end reason. */
const UNANSWERED = ['busy', 'no_answer', 'failed', 'canceled'];

const texts = textsIn({
  en: {
    release: 'Release',
    disposition: 'Disposition',
    success: 'Success',
    yes: 'Yes',
    no: 'No',
    channel: 'Channel',
    direction: 'Direction',
    endReason: 'How it ended',
    trunkId: 'Trunk',
    campaignId: 'Campaign',
    language: 'Language',
    node: 'Node of the end',
    provider: 'Label',
  },
  'zh-TW': {
    release: '版本',
    disposition: '結果分類',
    success: '成功',
    yes: '是',
    no: '否',
    channel: '管道',
    direction: '方向',
    endReason: '結束原因',
    trunkId: '中繼線',
    campaignId: '外撥活動',
    language: '語言',
    node: '結束的節點',
    provider: '標籤',
  },
});

interface SessionFilterFieldsProps {
  readonly projectId: string;
  readonly value: SessionFilters;
  onChange(change: SessionFilters): void;
}

/** Which conversations a list or a figure is of: one field a filter, each with the project's own values. */
export function SessionFilterFields({ projectId, value, onChange }: SessionFilterFieldsProps) {
  const options = useFilterOptions(projectId);
  return SESSION_FILTERS.map((name) => (
    <FilterSelect
      key={name}
      label={texts[name]}
      options={options[name]}
      value={value[name]}
      hasIds={name === 'trunkId' || name === 'campaignId'}
      mayLack={!ALWAYS.includes(name)}
      onChange={(next) => onChange({ [name]: next })}
    />
  ));
}

/** How filters are told: the words of their values, such as “Release 2 · Phone”. */
export function useFilterText(projectId: string): (filters: SessionFilters) => string {
  const options = useFilterOptions(projectId);
  return (filters) =>
    SESSION_FILTERS.flatMap((name) => {
      const value = filters[name];
      if (value === undefined) return [];
      if (value === '') return texts[name] + COLON + withoutText;
      const words = options[name].find(([one]) => one === value)?.[1] ?? value;
      return name === 'success' ? `${texts.success}${COLON}${words}` : words;
    }).join(' · ');
}

function useFilterOptions(projectId: string): Readonly<Record<SessionFilter, readonly Option[]>> {
  const api = useApi();
  const { data: releases } = useInfiniteQuery(releasesQuery(api, projectId));
  const { data: agent } = useQuery(agentQuery(api, projectId));
  const { data: pathway } = useQuery(pathwayQuery(api, projectId));
  const { data: trunks = [] } = useQuery(trunkNamesQuery(api, projectId));
  const { data: campaigns = [] } = useQuery(campaignNamesQuery(api, projectId));
  return {
    release: [
      ...(releases?.items ?? []).map(({ release }) => [String(release), releaseText(release)] as const),
      ['draft', releaseText('draft')],
    ],
    disposition: (agent?.analysis?.dispositions ?? []).map(({ value }) => [value, value]),
    success: [
      ['true', texts.yes],
      ['false', texts.no],
    ],
    channel: CHANNELS.map((channel) => [channel, codeText('channel', channel)]),
    direction: codeOptions('direction'),
    endReason: [
      ...codeOptions('callEnd'),
      ...codeOptions('callStatus').filter(([status]) => UNANSWERED.includes(status)),
      ...codeOptions('sessionEnd'),
    ],
    trunkId: trunks,
    campaignId: campaigns,
    language: (agent?.speech?.languages ?? []).map((language) => [language, languageText(language)]),
    node: (pathway?.graph.nodes ?? []).map((node) => [node.id, titleOf(node)]),
    provider: [],
  };
}
