import { Checkbox, Fieldset, Group, NumberInput, SimpleGrid, Stack } from '@mantine/core';

import { codeText } from '../../codes/codeText.ts';
import { textsIn } from '../../texts.ts';
import { type PauseForm, RETRIED_OUTCOMES, type RetryForm } from './campaignValues.ts';

/** 30 days. */
const MAX_RETRY_MINUTES = 43_200;
const FIRST_MINUTES = 60;

const texts = textsIn({
  en: {
    retry: 'When a contact is called again',
    attempts: 'Attempts for each contact, at most',
    after: (outcome: string) => `${outcome}: minutes until the next attempt`,
    minutes: ' min',
    pause: 'Protection',
    pauses: 'Pauses itself when too many attempts fail',
    failed: 'Failed attempts, in percent',
    ofLast: 'Of the last attempts',
  },
  'zh-TW': {
    retry: '何時再次撥打',
    attempts: '每位聯絡人的撥打次數上限',
    after: (outcome: string) => `${outcome}：到下次撥打的分鐘數`,
    minutes: ' 分鐘',
    pause: '保護',
    pauses: '太多次撥打失敗時自動暫停',
    failed: '失敗的比例（%）',
    ofLast: '依最近幾次撥打計算',
  },
});

interface FieldsProps<Value> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly problemOf: (field: string) => string | undefined;
}

/** How often a contact is called, and how long after which outcome. */
export function RetryFields({ value, onChange, problemOf }: FieldsProps<RetryForm>) {
  const { maxAttempts, minutes } = value;
  const set = (outcome: keyof RetryForm['minutes'], afterMinutes: number | undefined) =>
    onChange({ ...value, minutes: { ...minutes, [outcome]: afterMinutes } });
  return (
    <Fieldset legend={texts.retry} p="sm">
      <Stack gap="xs">
        <NumberInput
          label={texts.attempts}
          min={1}
          max={20}
          maw={320}
          value={maxAttempts}
          onChange={(attempts) => onChange({ ...value, maxAttempts: Number(attempts) })}
          error={problemOf('maxAttempts')}
        />
        {RETRIED_OUTCOMES.map((outcome) => (
          <Group key={outcome} gap="sm" mih={36}>
            <Checkbox
              label={codeText('contactOutcome', outcome)}
              checked={minutes[outcome] !== undefined}
              onChange={(event) => set(outcome, event.currentTarget.checked ? FIRST_MINUTES : undefined)}
              w={180}
            />
            {minutes[outcome] !== undefined && (
              <NumberInput
                aria-label={texts.after(codeText('contactOutcome', outcome))}
                suffix={texts.minutes}
                min={0}
                max={MAX_RETRY_MINUTES}
                w={140}
                value={minutes[outcome]}
                onChange={(afterMinutes) => set(outcome, Number(afterMinutes))}
              />
            )}
          </Group>
        ))}
      </Stack>
    </Fieldset>
  );
}

/** When a campaign pauses itself. */
export function PauseFields({ value, onChange, problemOf }: FieldsProps<PauseForm>) {
  const { isOn, failedPercent, ofLast } = value;
  return (
    <Fieldset legend={texts.pause} p="sm">
      <Stack gap="xs">
        <Checkbox
          label={texts.pauses}
          checked={isOn}
          onChange={(event) => onChange({ ...value, isOn: event.currentTarget.checked })}
        />
        {isOn && (
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <NumberInput
              label={texts.failed}
              suffix=" %"
              min={1}
              max={100}
              value={failedPercent}
              onChange={(percent) => onChange({ ...value, failedPercent: Number(percent) })}
              error={problemOf('failedPercent')}
            />
            <NumberInput
              label={texts.ofLast}
              min={1}
              max={1_000}
              value={ofLast}
              onChange={(attempts) => onChange({ ...value, ofLast: Number(attempts) })}
              error={problemOf('ofLast')}
            />
          </SimpleGrid>
        )}
      </Stack>
    </Fieldset>
  );
}
