import { textsIn } from '../../../texts.ts';
import type { ListedRun } from '../testData.ts';

const texts = textsIn({
  en: { live: 'Live version', draft: 'Draft' },
  'zh-TW': { live: '線上版', draft: '草稿' },
});

/** What a run played: the version, and the mode and model in place of the agent's. */
export function runVariant({ version, mode, model }: Pick<ListedRun, 'version' | 'mode' | 'model'>): string {
  return [texts[version], mode, model].filter((part) => part !== null).join(' · ');
}
