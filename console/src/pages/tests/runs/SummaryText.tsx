import { Text, type TextProps } from '@mantine/core';

import { formatNumber } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';
import type { TestRun } from '../testData.ts';

const texts = textsIn({
  en: {
    passed: (count: string) => `${count} passed`,
    failed: (count: string) => `${count} failed`,
    flaky: (count: string) => `${count} flaky`,
    errors: (count: string) => `${count} not playable`,
  },
  'zh-TW': {
    passed: (count: string) => `${count} 個通過`,
    failed: (count: string) => `${count} 個失敗`,
    flaky: (count: string) => `${count} 個不穩定`,
    errors: (count: string) => `${count} 個無法執行`,
  },
});

/** How many cases came to what. */
export function SummaryText({ summary, ...props }: TextProps & { summary: TestRun['summary'] }) {
  const counted = (['passed', 'failed', 'flaky', 'errors'] as const).filter((kind) => summary[kind] > 0);
  if (counted.length === 0) return null;
  return (
    <Text {...props}>{counted.map((kind) => texts[kind](formatNumber(summary[kind]))).join(' · ')}</Text>
  );
}
