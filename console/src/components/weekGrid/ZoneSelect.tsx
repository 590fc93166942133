import { Select } from '@mantine/core';

import { textsIn } from '../../texts.ts';

const texts = textsIn({
  en: { label: 'By whose clocks', callee: 'Those of the called number' },
  'zh-TW': { label: '依誰的時間', callee: '受話號碼所在的時區' },
});

/** Whose clocks hours are read by: `callee`, or an IANA time zone. */
export function ZoneSelect({ value, onChange }: { value: string; onChange: (zone: string) => void }) {
  const zones = new Set([...Intl.supportedValuesOf('timeZone'), value]);
  zones.delete('callee');
  return (
    <Select
      label={texts.label}
      searchable
      allowDeselect={false}
      data={[{ value: 'callee', label: texts.callee }, ...zones]}
      value={value}
      onChange={(zone) => onChange(zone ?? 'callee')}
    />
  );
}
