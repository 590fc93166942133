import { Group, Text } from '@mantine/core';

import { formatPercent } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';
import type { PlayedCase } from '../testData.ts';
import styles from './PassRate.module.css';

const texts = textsIn({
  en: { interval: (low: string, high: string) => `95% interval: ${low} to ${high}` },
  'zh-TW': { interval: (low: string, high: string) => `95% 信賴區間：${low} 至 ${high}` },
});

const SCALE = 100;

/** The share of plays that passed, with the interval in which the true one lies. */
export function PassRate({ passRate }: { passRate: NonNullable<PlayedCase['passRate']> }) {
  const { value, low, high } = passRate;
  return (
    <Group gap="xs" wrap="nowrap">
      <Text size="sm" fw={600}>
        {formatPercent(Math.round(value * SCALE) / SCALE)}
      </Text>
      <svg width="100" height="12" viewBox="0 0 100 12" aria-hidden="true">
        <rect className={styles.track} y="5" width="100" height="2" rx="1" />
        <rect
          className={styles.interval}
          x={low * SCALE}
          y="3"
          width={(high - low) * SCALE}
          height="6"
          rx="3"
        />
        <circle className={styles.value} cx={Math.min(96, Math.max(4, value * SCALE))} cy="6" r="4" />
      </svg>
      <Text size="xs" c="dimmed">
        {texts.interval(
          formatPercent(Math.round(low * SCALE) / SCALE),
          formatPercent(Math.round(high * SCALE) / SCALE),
        )}
      </Text>
    </Group>
  );
}
