import { Autocomplete, NumberInput, SimpleGrid, Stack, TextInput } from '@mantine/core';

import { textsIn } from '../../../texts.ts';
import type { ToolMock } from '../testData.ts';
import { JsonField } from './JsonField.tsx';
import { useToolNames } from './names.ts';

const texts = textsIn({
  en: {
    name: 'Tool',
    when: 'Only when (JSONLogic over the arguments)',
    result: 'Result, as JSON',
    error: 'Or an error',
    delayMs: 'Delay (ms)',
  },
  'zh-TW': {
    name: '工具',
    when: '僅在此條件下（對參數的 JSONLogic）',
    result: '結果（JSON）',
    error: '或錯誤訊息',
    delayMs: '延遲（毫秒）',
  },
});

export const newMock = (): ToolMock => ({ name: '' });

interface MockProps {
  projectId: string;
  mock: ToolMock;
  onChange: (mock: ToolMock) => void;
}

/** What a tool answers in a test. */
export function MockFields({ projectId, mock, onChange }: MockProps) {
  const set = (changes: { [Field in keyof ToolMock]?: ToolMock[Field] | undefined }) =>
    onChange(withoutEmpty({ ...mock, ...changes }));
  return (
    <Stack gap="xs">
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Autocomplete
          label={texts.name}
          data={useToolNames(projectId)}
          value={mock.name}
          onChange={(name) => set({ name })}
          required
        />
        <NumberInput
          label={texts.delayMs}
          value={mock.delayMs ?? ''}
          onChange={(ms) => set({ delayMs: ms === '' ? undefined : Number(ms) })}
          min={0}
          max={60_000}
          allowDecimal={false}
        />
      </SimpleGrid>
      <JsonField
        label={texts.result}
        value={mock.result}
        onChange={(result) => set({ result })}
        disabled={mock.error !== undefined}
      />
      <TextInput
        label={texts.error}
        value={mock.error ?? ''}
        onChange={(event) => set({ error: event.currentTarget.value || undefined })}
        disabled={mock.result !== undefined}
      />
      <JsonField label={texts.when} value={mock.when} onChange={(when) => set({ when })} isObject />
    </Stack>
  );
}

function withoutEmpty(mock: object): ToolMock {
  return Object.fromEntries(Object.entries(mock).filter(([, value]) => value !== undefined)) as ToolMock;
}
