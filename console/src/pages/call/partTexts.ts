import { textsIn } from '../../texts.ts';
import type { LatencyPart } from './model/turns.ts';

/** Names of the parts of a latency. */
export const partTexts: Readonly<Record<LatencyPart, string>> = textsIn({
  en: {
    network: 'Jitter buffer',
    endpointing: 'End of turn',
    transcription: 'Transcript',
    prepare: 'Path and prompt',
    retrieval: 'Retrieval',
    tool: 'Tools',
    model: 'Model, first words',
    sentence: 'First sentence',
    synthesis: 'Speech, first sound',
    playout: 'First packet',
  },
  'zh-TW': {
    network: '抖動緩衝',
    endpointing: '判定說完',
    transcription: '語音轉文字',
    prepare: '路徑與提示',
    retrieval: '文件檢索',
    tool: '工具',
    model: '模型首字',
    sentence: '第一句',
    synthesis: '語音首音',
    playout: '首個封包',
  },
});
