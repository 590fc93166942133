import { NativeSelect, TextInput } from '@mantine/core';

import { textsIn } from '../../texts.ts';
import { SessionFilterPanel } from '../sessions/SessionFilterPanel.tsx';
import { type InsightSearch, RANGES } from './insightSearch.ts';

const CUSTOM = 'dates';

const texts = textsIn({
  en: {
    range: 'Time',
    days: (days: number) => (days === 1 ? 'Today' : `The last ${days} days`),
    dates: 'Dates',
    from: 'From',
    to: 'To',
  },
  'zh-TW': {
    range: '時間',
    days: (days: number) => (days === 1 ? '今天' : `最近 ${days} 天`),
    dates: '指定日期',
    from: '從',
    to: '到',
  },
});

interface InsightFiltersProps {
  readonly projectId: string;
  readonly search: InsightSearch;
  onChange(change: InsightSearch): void;
}

/** Which conversations count, and of what time. */
export function InsightFilters({ projectId, search, onChange }: InsightFiltersProps) {
  const { days = 30, from, to } = search;
  const isCustom = from !== undefined || to !== undefined;
  const chooseRange = (value: string) =>
    value === CUSTOM
      ? onChange({ days: undefined, from: dateOf(-(days - 1)), to: dateOf(0) })
      : onChange({ days: RANGES.find((one) => String(one) === value), from: undefined, to: undefined });
  return (
    <SessionFilterPanel projectId={projectId} value={search} onChange={onChange}>
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
    </SessionFilterPanel>
  );
}

/** A date in UTC. @param days - From today on. */
function dateOf(days: number): string {
  const date = new Date();
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}
