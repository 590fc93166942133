import { NativeSelect } from '@mantine/core';

import { textsIn } from '../texts.ts';

const texts = textsIn({
  en: { any: 'Any', other: 'Another one', without: 'Without' },
  'zh-TW': { any: '全部', other: '其他', without: '無' },
});

/** The words of an empty value, which finds those without one. */
export const withoutText = texts.without;
/** No filter: an empty value is one. */
const ANY = ' ';

/** A value and its words. */
export type Option<Value extends string = string> = readonly [value: Value, label: string];

interface FilterSelectProps<Value extends string> {
  readonly label: string;
  readonly options: readonly Option<Value>[];
  readonly value: Value | undefined;
  /** Whether values that are not among the options are ids, which tell a reader nothing. */
  readonly hasIds?: boolean;
  /** Whether those without a value can be found, by an empty one. */
  readonly mayLack?: boolean;
  onChange(value: Value | undefined): void;
}

/** One filter of a list; nothing where there is nothing to choose. */
export function FilterSelect<Value extends string>({
  label,
  options,
  value,
  hasIds = false,
  mayLack = false,
  onChange,
}: FilterSelectProps<Value>) {
  if (options.length === 0 && value === undefined) return null;
  const isKnown = value === undefined || value === '' || options.some(([one]) => one === value);
  const all = [
    ...options,
    ...(isKnown ? [] : [[value, hasIds ? texts.other : value] as const]),
    ...(mayLack ? [['' as Value, texts.without] as const] : []),
  ];
  return (
    <NativeSelect
      label={label}
      data={[{ value: ANY, label: texts.any }, ...all.map(([one, words]) => ({ value: one, label: words }))]}
      value={value ?? ANY}
      onChange={({ currentTarget }) => onChange(all.find(([one]) => one === currentTarget.value)?.[0])}
      maw={240}
    />
  );
}
