import {
  Button,
  Checkbox,
  Group,
  MultiSelect,
  NativeSelect,
  NumberInput,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/apiContext.tsx';
import { ApiError, bodyOf } from '../../api/client.ts';
import { FormError } from '../../components/FormError.tsx';
import { handleSubmit } from '../../components/handleSubmit.ts';
import { WeekGrid } from '../../components/weekGrid/WeekGrid.tsx';
import type { HoursWindow } from '../../components/weekGrid/week.ts';
import { ZoneSelect } from '../../components/weekGrid/ZoneSelect.tsx';
import { textsIn } from '../../texts.ts';
import { useNumbers } from '../trunks/NumberSection.tsx';
import type { Campaign } from './campaignData.ts';
import {
  badVariableLine,
  instantOf,
  localTimeOf,
  pauseFormOf,
  pauseFrom,
  retryFormOf,
  retryFrom,
  variablesFrom,
  variablesText,
} from './campaignValues.ts';
import { PauseFields, RetryFields } from './RetryFields.tsx';

const MAX_CONCURRENT = 200;
const MAX_CALLS_PER_MINUTE = 600;
const OFFICE_HOURS: HoursWindow[] = [
  { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '09:00', to: '18:00' },
];

const texts = textsIn({
  en: {
    name: 'Name',
    from: 'From numbers',
    fromHelp: 'National numbers of contacts are read in the country of the first one.',
    noNumber: 'The project has no number that places calls. Add one under “Trunks and numbers”.',
    callerId: 'Which number calls',
    callerIds: {
      fixed: 'The first',
      rotate: 'Each in turn',
      local: 'The one that is nearest to the contact’s',
    },
    hours: 'Hours',
    hoursOf: { kept: 'As they are', project: 'The calling hours of the project', own: 'Other hours' },
    ownHelp: 'The calling hours of the project hold as well.',
    week: 'When calls go out',
    concurrent: 'Calls at once, at most',
    perMinute: 'Calls a minute, at most',
    description: 'Description',
    startAt: 'No call before',
    endAt: 'No call from then on',
    endAtHelp: 'Contacts that are left are then skipped.',
    variables: 'Variables of every call',
    variablesHelp: 'One a line, as company = Acme. A column of the list with the same name goes before.',
    badVariable: (line: string) => `“${line}” is not a name, an equals sign and a value.`,
    keepOpen: 'Stays open without contacts, so that more can be added while it runs',
    create: 'Create the campaign',
    save: 'Save',
  },
  'zh-TW': {
    name: '名稱',
    from: '撥出號碼',
    fromHelp: '聯絡人的國內號碼依第一個撥出號碼的國家判讀。',
    noNumber: '專案沒有可撥出電話的號碼，請在「中繼線與號碼」新增。',
    callerId: '以哪個號碼撥出',
    callerIds: { fixed: '第一個', rotate: '輪流使用', local: '最接近聯絡人號碼的一個' },
    hours: '時段',
    hoursOf: { kept: '維持不變', project: '專案的可撥時段', own: '其他時段' },
    ownHelp: '專案的可撥時段也同樣適用。',
    week: '撥出電話的時間',
    concurrent: '同時通話上限',
    perMinute: '每分鐘撥出上限',
    description: '說明',
    startAt: '不早於此時撥打',
    endAt: '自此時起不再撥打',
    endAtHelp: '屆時尚未撥打的聯絡人會略過。',
    variables: '每通電話的變數',
    variablesHelp: '每行一個，例如 company = Acme。名單中同名的欄位優先。',
    badVariable: (line: string) => `「${line}」不是名稱、等號與值。`,
    keepOpen: '沒有聯絡人時仍保持開放，以便執行中再加入',
    create: '建立外撥活動',
    save: '儲存',
  },
});

function formOf(campaign: Campaign | undefined) {
  return {
    name: campaign?.name ?? '',
    fromNumbers: campaign?.fromNumbers ?? [],
    callerId: campaign?.callerId ?? ('fixed' as const),
    /** A campaign does not tell whether its windows are its own or the project's. */
    hours: campaign ? ('kept' as const) : ('project' as const),
    timezone: campaign?.schedule.timezone ?? 'callee',
    windows: campaign?.schedule.windows.length ? campaign.schedule.windows : OFFICE_HOURS,
    maxConcurrent: campaign?.pacing.maxConcurrent ?? 5,
    callsPerMinute: campaign?.pacing.callsPerMinute ?? 30,
    description: campaign?.description ?? '',
    startAt: localTimeOf(campaign?.schedule.startAt),
    endAt: localTimeOf(campaign?.schedule.endAt),
    retry: retryFormOf(campaign?.retry),
    pauseWhen: pauseFormOf(campaign),
    variables: variablesText(campaign?.variables ?? {}),
    keepOpen: campaign?.keepOpen ?? false,
  };
}
type Form = Omit<ReturnType<typeof formOf>, 'hours'> & { hours: 'kept' | 'project' | 'own' };

function bodyFrom(
  { name, fromNumbers, callerId, hours, timezone, windows, ...form }: Form,
  before?: Campaign,
) {
  const weeks = { kept: {}, project: { windows: null }, own: { timezone, windows } };
  return {
    name: name.trim(),
    description: form.description.trim() || null,
    fromNumbers,
    callerId,
    schedule: { ...weeks[hours], startAt: instantOf(form.startAt), endAt: instantOf(form.endAt) },
    pacing: { maxConcurrent: form.maxConcurrent, callsPerMinute: form.callsPerMinute },
    retry: retryFrom(form.retry),
    pauseWhen: form.pauseWhen.isOn ? pauseFrom(form.pauseWhen) : null,
    variables: variablesFrom(form.variables, before?.variables ?? {}),
    keepOpen: form.keepOpen,
  };
}

interface CampaignFormProps {
  readonly projectId: string;
  /** Undefined: a new one. */
  readonly campaign?: Campaign;
  readonly onSaved: (campaign: Campaign) => unknown;
}

/** The settings of a campaign. */
export function CampaignForm({ projectId, campaign, onSaved }: CampaignFormProps) {
  const api = useApi();
  const queries = useQueryClient();
  const [form, setForm] = useState<Form>(() => formOf(campaign));
  const set = (changes: Partial<Form>) => setForm((before) => ({ ...before, ...changes }));
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      campaign
        ? bodyOf(
            api.PATCH('/v1/projects/{projectId}/campaigns/{campaignId}', {
              params: { path: { projectId, campaignId: campaign.id } },
              body: bodyFrom(form, campaign),
            }),
          )
        : bodyOf(
            api.POST('/v1/projects/{projectId}/campaigns', {
              params: { path: { projectId } },
              body: bodyFrom(form),
            }),
          ),
    onSuccess: async (saved) => {
      await queries.invalidateQueries({ queryKey: ['campaigns', projectId] });
      await onSaved(saved);
    },
  });
  const problemOf = (field: string) =>
    error instanceof ApiError
      ? error.details.find(({ path }) => path?.split('/').includes(field))?.message
      : undefined;
  const badLine = badVariableLine(form.variables);
  return (
    <Stack component="form" onSubmit={handleSubmit(() => mutate())}>
      <TextInput
        label={texts.name}
        required
        maxLength={128}
        value={form.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={problemOf('name')}
      />
      <TextInput
        label={texts.description}
        maxLength={2_000}
        value={form.description}
        onChange={(event) => set({ description: event.currentTarget.value })}
        error={problemOf('description')}
      />
      <CallerFields form={form} set={set} problemOf={problemOf} />
      <HoursFields form={form} set={set} isNew={campaign === undefined} />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput
          type="datetime-local"
          label={texts.startAt}
          value={form.startAt}
          onChange={(event) => set({ startAt: event.currentTarget.value })}
          error={problemOf('startAt')}
        />
        <TextInput
          type="datetime-local"
          label={texts.endAt}
          description={texts.endAtHelp}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={form.endAt}
          onChange={(event) => set({ endAt: event.currentTarget.value })}
          error={problemOf('endAt')}
        />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, sm: 2 }} style={{ alignItems: 'end' }}>
        <NumberInput
          label={texts.concurrent}
          min={1}
          max={MAX_CONCURRENT}
          value={form.maxConcurrent}
          onChange={(value) => set({ maxConcurrent: Number(value) })}
          error={problemOf('maxConcurrent')}
        />
        <NumberInput
          label={texts.perMinute}
          min={1}
          max={MAX_CALLS_PER_MINUTE}
          value={form.callsPerMinute}
          onChange={(value) => set({ callsPerMinute: Number(value) })}
          error={problemOf('callsPerMinute')}
        />
      </SimpleGrid>
      <RetryFields value={form.retry} onChange={(retry) => set({ retry })} problemOf={problemOf} />
      <PauseFields
        value={form.pauseWhen}
        onChange={(pauseWhen) => set({ pauseWhen })}
        problemOf={problemOf}
      />
      <Textarea
        label={texts.variables}
        description={texts.variablesHelp}
        autosize
        minRows={2}
        maxRows={10}
        value={form.variables}
        onChange={(event) => set({ variables: event.currentTarget.value })}
        error={badLine === undefined ? problemOf('variables') : texts.badVariable(badLine)}
      />
      <Checkbox
        label={texts.keepOpen}
        checked={form.keepOpen}
        onChange={(event) => set({ keepOpen: event.currentTarget.checked })}
      />
      <FormError error={error} />
      <Group justify="flex-end">
        <Button type="submit" loading={isPending} disabled={form.name.trim() === '' || badLine !== undefined}>
          {campaign ? texts.save : texts.create}
        </Button>
      </Group>
    </Stack>
  );
}

interface FieldsProps {
  readonly form: Form;
  readonly set: (changes: Partial<Form>) => void;
}

function CallerFields({
  form,
  set,
  problemOf,
}: FieldsProps & { problemOf: (field: string) => string | undefined }) {
  const { data } = useNumbers();
  const usable = (data?.data ?? []).filter(({ outboundStatus }) => outboundStatus === 'active');
  const numbers = new Set([...usable.map(({ number }) => number), ...form.fromNumbers]);
  return (
    <>
      <MultiSelect
        label={texts.from}
        description={texts.fromHelp}
        searchable
        data={[...numbers]}
        value={form.fromNumbers}
        onChange={(fromNumbers) => set({ fromNumbers })}
        error={problemOf('fromNumbers')}
      />
      {data && usable.length === 0 && <Text size="sm">{texts.noNumber}</Text>}
      {form.fromNumbers.length > 1 && (
        <NativeSelect
          label={texts.callerId}
          data={Object.entries(texts.callerIds).map(([value, label]) => ({ value, label }))}
          value={form.callerId}
          onChange={(event) => set({ callerId: event.currentTarget.value as Form['callerId'] })}
        />
      )}
    </>
  );
}

function HoursFields({ form, set, isNew }: FieldsProps & { isNew: boolean }) {
  const choices = Object.entries(texts.hoursOf).filter(([value]) => !isNew || value !== 'kept');
  return (
    <>
      <NativeSelect
        label={texts.hours}
        data={choices.map(([value, label]) => ({ value, label }))}
        value={form.hours}
        onChange={(event) => set({ hours: event.currentTarget.value as Form['hours'] })}
        description={form.hours === 'own' ? texts.ownHelp : undefined}
      />
      {form.hours === 'own' && (
        <>
          <WeekGrid label={texts.week} windows={form.windows} onChange={(windows) => set({ windows })} />
          <ZoneSelect value={form.timezone} onChange={(timezone) => set({ timezone })} />
        </>
      )}
    </>
  );
}
