import { useQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { campaignNamesQuery, trunkNamesQuery } from '../../api/nameQueries.ts';
import { codeText, endText } from '../../codes/codeText.ts';
import { withoutText } from '../../components/FilterSelect.tsx';
import { languageText } from '../../formats.ts';
import { textsIn } from '../../texts.ts';
import { pathwayQuery } from '../agent/agentQueries.ts';
import { titleOf } from '../agent/pathway/graph.ts';
import { releaseText } from '../releases/releaseData.ts';
import type { Series } from './insightData.ts';
import type { SeriesOf } from './insightSearch.ts';

const texts = textsIn({
  en: {
    other: 'All others',
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
    other: '其他',
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

/** Returns how the keys of series are shown. */
export function useKeyText(projectId: string, groupBy: SeriesOf | undefined) {
  const api = useApi();
  const campaigns = useQuery({ ...campaignNamesQuery(api, projectId), enabled: groupBy === 'campaign' });
  const trunks = useQuery({ ...trunkNamesQuery(api, projectId), enabled: groupBy === 'trunk' });
  const pathway = useQuery({ ...pathwayQuery(api, projectId), enabled: groupBy === 'node' });
  const named = (names: readonly (readonly [string, string])[] = [], key: string) =>
    names.find(([id]) => id === key)?.[1] ?? key;
  return ({ key, isOther }: Series): string => {
    if (isOther) return texts.other;
    if (key === null) return withoutText;
    switch (groupBy) {
      case 'release':
        return releaseText(key);
      case 'endReason':
        return endText(key);
      case 'direction':
        return codeText('direction', key);
      case 'language':
        return languageText(key);
      case 'campaign':
        return named(campaigns.data, key);
      case 'trunk':
        return named(trunks.data, key);
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
