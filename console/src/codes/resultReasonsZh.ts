import { type Phrase, phraseIn } from '../api/phrases.ts';

/** What the service says itself, and the model of rehearsals. */
const REASONS: readonly Phrase[] = [
  [
    /^judged by rule: of (\d+) words sought, the talk has 0 \(none\)$/,
    '依規則判定：尋找的 $1 個字詞，對話都沒有',
  ],
  [
    /^judged by rule: of (\d+) words sought, the talk has (\d+) \((.*)\)$/s,
    '依規則判定：尋找的 $1 個字詞中，對話有 $2 個（$3）',
  ],
  [/^The agent said nothing\.$/, '代理沒有說話。'],
  [/^The analysis was not done in time\.$/, '分析未能及時完成。'],
  [/^The model gave no score\.$/, '模型沒有給分數。'],
  [/^The model gave no verdict\.$/, '模型沒有給判斷。'],
  [/^The model took longer than (\d+) s$/, '模型超過 $1 秒沒有回答'],
];

/** Why a conversation was judged so, or not at all; a model's own words stay as they are. */
export const resultReasonZh = (reason: string): string => phraseIn(REASONS, reason) ?? reason;
