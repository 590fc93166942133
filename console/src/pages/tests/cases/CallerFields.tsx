import { NumberInput, Select, SimpleGrid, Stack, TagsInput, Textarea } from '@mantine/core';

import { textsIn } from '../../../texts.ts';
import type { CaseInput } from '../testData.ts';
import { JsonField } from './JsonField.tsx';

const texts = textsIn({
  en: {
    prompt: 'Who the caller is, and how they talk',
    goal: 'What they want',
    traits: 'Traits; Enter after each',
    facts: 'What they know, as JSON',
    hangUpWhen: 'They hang up when',
    maxTurns: 'Turns at most',
    maxSeconds: 'Seconds at most',
    codec: 'Codec',
    voice: 'Voice',
    noise: 'Background noise',
    noises: { none: 'None', street: 'Street', office: 'Office', babble: 'Other people' },
    snrDb: 'Voice over noise (dB)',
    lossPercent: 'Lost packets (%)',
    jitterMs: 'Jitter (ms)',
  },
  'zh-TW': {
    prompt: '來電者是誰，說話方式為何',
    goal: '想要什麼',
    traits: '特徵，每項按 Enter',
    facts: '知道的事（JSON）',
    hangUpWhen: '何時掛斷',
    maxTurns: '最多輪數',
    maxSeconds: '最多秒數',
    codec: '編解碼器',
    voice: '聲音',
    noise: '背景噪音',
    noises: { none: '無', street: '街道', office: '辦公室', babble: '其他人聲' },
    snrDb: '人聲高於噪音（dB）',
    lossPercent: '封包遺失（%）',
    jitterMs: '抖動（毫秒）',
  },
});

type Persona = NonNullable<CaseInput['persona']>;
type Phone = NonNullable<CaseInput['phone']>;
type Changes<Fields> = { [Name in keyof Fields]?: Fields[Name] | undefined };

interface FieldsProps<Fields> {
  value: Fields;
  onChange: (value: Fields) => void;
}

/** A caller that a chat model plays. */
export function PersonaFields({ value, onChange }: FieldsProps<Persona>) {
  const set = (changes: Changes<Persona>) => onChange(merged(value, changes));
  return (
    <Stack gap="xs">
      <Textarea
        label={texts.prompt}
        value={value.prompt}
        onChange={(event) => set({ prompt: event.currentTarget.value })}
        autosize
        minRows={2}
        maxRows={12}
        required
      />
      <Textarea
        label={texts.goal}
        value={value.goal ?? ''}
        onChange={(event) => set({ goal: event.currentTarget.value || undefined })}
        autosize
      />
      <TagsInput
        label={texts.traits}
        value={value.traits ?? []}
        onChange={(traits) => set({ traits: traits.length > 0 ? traits : undefined })}
        splitChars={[]}
      />
      <JsonField label={texts.facts} value={value.facts} onChange={(facts) => set({ facts })} isObject />
      <Textarea
        label={texts.hangUpWhen}
        value={value.hangUpWhen ?? ''}
        onChange={(event) => set({ hangUpWhen: event.currentTarget.value || undefined })}
        autosize
      />
      <SimpleGrid cols={2}>
        <OptionalNumber
          label={texts.maxTurns}
          placeholder="20"
          value={value.maxTurns}
          onChange={(maxTurns) => set({ maxTurns })}
          range={[1, 100]}
        />
        <OptionalNumber
          label={texts.maxSeconds}
          placeholder="300"
          value={value.maxSeconds}
          onChange={(maxSeconds) => set({ maxSeconds })}
          range={[1, 600]}
        />
      </SimpleGrid>
    </Stack>
  );
}

/** The line and the voice of a caller on the phone. */
export function PhoneFields({ value, onChange }: FieldsProps<Phone>) {
  const set = (changes: Changes<Phone>) => onChange(merged(value, changes));
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, sm: 3 }}>
      <Select
        label={texts.codec}
        placeholder="PCMU"
        data={['PCMU', 'PCMA', 'G722', 'opus'] as const}
        value={value.codec ?? null}
        onChange={(codec) => set({ codec: codec ?? undefined })}
        clearable
      />
      <Select
        label={texts.voice}
        placeholder="rms"
        data={['rms', 'slt', 'kal16'] as const}
        value={value.voice ?? null}
        onChange={(voice) => set({ voice: voice ?? undefined })}
        clearable
      />
      <Select
        label={texts.noise}
        placeholder={texts.noises.none}
        data={(['none', 'street', 'office', 'babble'] as const).map((noise) => ({
          value: noise,
          label: texts.noises[noise],
        }))}
        value={value.noise ?? null}
        onChange={(noise) => set({ noise: noise ?? undefined })}
        clearable
      />
      <OptionalNumber
        label={texts.snrDb}
        placeholder="15"
        value={value.snrDb}
        onChange={(snrDb) => set({ snrDb })}
        range={[-10, 60]}
      />
      <OptionalNumber
        label={texts.lossPercent}
        placeholder="0"
        value={value.lossPercent}
        onChange={(lossPercent) => set({ lossPercent })}
        range={[0, 50]}
        allowDecimal
      />
      <OptionalNumber
        label={texts.jitterMs}
        placeholder="0"
        value={value.jitterMs}
        onChange={(jitterMs) => set({ jitterMs })}
        range={[0, 500]}
      />
    </SimpleGrid>
  );
}

interface OptionalNumberProps {
  label: string;
  /** What counts while the field is empty. */
  placeholder: string;
  value: number | undefined;
  onChange: (value: number | undefined) => void;
  range: readonly [number, number];
  allowDecimal?: boolean;
}

function OptionalNumber({
  value,
  onChange,
  range: [min, max],
  allowDecimal = false,
  ...props
}: OptionalNumberProps) {
  return (
    <NumberInput
      {...props}
      value={value ?? ''}
      onChange={(changed) => onChange(changed === '' ? undefined : Number(changed))}
      min={min}
      max={max}
      allowDecimal={allowDecimal}
    />
  );
}

/** Fields that are undefined are removed. */
function merged<Fields extends object>(value: Fields, changes: Changes<Fields>): Fields {
  const entries = Object.entries({ ...value, ...changes }).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries) as Fields;
}
