import { useQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { codeText } from '../../codes/codeText.ts';
import { locale, textsIn } from '../../texts.ts';
import { pathwayQuery } from '../agent/agentQueries.ts';
import { titleOf } from '../agent/pathway/graph.ts';
import { statusText } from '../calls/StatusBadge.tsx';
import { releaseText } from '../releases/releaseData.ts';
import type { Series } from './insightData.ts';
import type { SeriesOf } from './insightSearch.ts';

const MOST = '200';
const KEPT_MS = 60_000;

const texts = textsIn({
  en: {
    none: 'Without',
    other: 'All others',
    inbound: 'Inbound',
    outbound: 'Outbound',
    parts: {
      total: 'Total',
      buffer: 'Buffer',
      endpointing: 'End of turn',
      transcription: 'Recognition',
      answer: 'Answer',
      speech: 'Speech',
      playout: 'Playout',
      model: 'Model',
      tool: 'Tools',
      sentence: 'First sentence',
    },
  },
  'zh-TW': {
    none: '無',
    other: '其他',
    inbound: '來電',
    outbound: '撥出',
    parts: {
      total: '總計',
      buffer: '緩衝',
      endpointing: '輪次結束',
      transcription: '語音辨識',
      answer: '回答',
      speech: '語音合成',
      playout: '播放',
      model: '模型',
      tool: '工具',
      sentence: '第一句',
    },
  },
});

const languages = new Intl.DisplayNames(locale, { type: 'language' });

/** Why a call or a session ended, or the status of a call that was not answered. */
export function endText(reason: string): string {
  const known = [codeText('callEnd', reason), statusText(reason), codeText('sessionEnd', reason)];
  return known.find((text) => text !== reason) ?? reason;
}

/** Returns how the keys of series are shown. */
export function useKeyText(projectId: string, groupBy: SeriesOf | undefined) {
  const api = useApi();
  const params = { path: { projectId }, query: { limit: MOST } };
  const campaigns = useQuery({
    queryKey: ['campaigns', projectId, 'names'],
    queryFn: () => bodyOf(api.GET('/v1/projects/{projectId}/campaigns', { params })),
    enabled: groupBy === 'campaign',
    staleTime: KEPT_MS,
  });
  const trunks = useQuery({
    queryKey: ['trunks', projectId, 'names'],
    queryFn: () => bodyOf(api.GET('/v1/projects/{projectId}/trunks', { params })),
    enabled: groupBy === 'trunk',
    staleTime: KEPT_MS,
  });
  const pathway = useQuery({ ...pathwayQuery(api, projectId), enabled: groupBy === 'node' });
  const named = (items: readonly { id: string; name: string }[] | undefined, key: string) =>
    items?.find(({ id }) => id === key)?.name ?? key;
  return ({ key, isOther }: Series): string => {
    if (isOther) return texts.other;
    if (key === null) return texts.none;
    switch (groupBy) {
      case 'release':
        return releaseText(key);
      case 'endReason':
        return endText(key);
      case 'direction':
        return texts[key as 'inbound' | 'outbound'] ?? key;
      case 'language':
        return languages.of(key) ?? key;
      case 'campaign':
        return named(campaigns.data?.data, key);
      case 'trunk':
        return named(trunks.data?.data, key);
      case 'node': {
        const node = pathway.data?.graph.nodes.find(({ id }) => id === key);
        return node ? titleOf(node) : key;
      }
      case 'part':
        return texts.parts[key as keyof typeof texts.parts] ?? key;
      default:
        return key;
    }
  };
}
