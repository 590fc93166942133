import { Button, Checkbox, Group, Stack, Switch, TagsInput, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/apiContext.tsx';
import { type Api, bodyOf } from '../../api/client.ts';
import { FormError } from '../../components/FormError.tsx';
import { handleSubmit } from '../../components/handleSubmit.ts';
import { Section } from '../../components/Section.tsx';
import { useProjectId } from '../../components/useProjectId.ts';
import { WeekGrid } from '../../components/weekGrid/WeekGrid.tsx';
import { ZoneSelect } from '../../components/weekGrid/ZoneSelect.tsx';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';

const texts = textsIn({
  en: {
    title: 'Calling hours',
    about: 'When this project may call people. The hours are asked again at the moment of each call.',
    limited: 'Calls are placed within these hours only',
    any: 'Any hour is open. Many countries allow calls to consumers by day only.',
    week: 'Open hours',
    exceptions: 'Days without calls',
    exceptionsHelp: 'Such as 2026-12-25; Enter adds a day.',
    appliesTo: 'They hold for',
    origins: { campaign: 'Campaigns', callback: 'Callbacks', api: 'Orders by the API' },
    save: 'Save the calling hours',
    saved: 'The calling hours are saved.',
  },
  'zh-TW': {
    title: '可撥時段',
    about: '此專案可致電的時間。每通電話撥出的當下會再次確認。',
    limited: '只在這些時段撥出電話',
    any: '任何時間都可撥出。許多國家只允許在白天致電消費者。',
    week: '開放的時段',
    exceptions: '不撥打的日子',
    exceptionsHelp: '例如 2026-12-25；按 Enter 加入一天。',
    appliesTo: '適用於',
    origins: { campaign: '外撥活動', callback: '回電', api: 'API 的撥號要求' },
    save: '儲存可撥時段',
    saved: '可撥時段已儲存。',
  },
});

type Hours = NonNullable<Awaited<ReturnType<typeof fetchProject>>['callingHours']>;
type Origin = Hours['appliesTo'][number];
const ORIGINS = Object.keys(texts.origins) as Origin[];

/** Those of a new project. */
const USUAL_HOURS: Hours = {
  timezone: 'callee',
  windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '08:00', to: '21:00' }],
  appliesTo: ['campaign', 'callback'],
};

const fetchProject = (api: Api, projectId: string) =>
  bodyOf(api.GET('/v1/projects/{projectId}', { params: { path: { projectId } } }));

/** The hours in which the project may call. */
export function CallingHours() {
  const api = useApi();
  const projectId = useProjectId();
  const { data, error } = useQuery({
    queryKey: ['project', projectId, 'callingHours'],
    queryFn: () => fetchProject(api, projectId),
    // A form that is being filled is not filled anew.
    refetchOnWindowFocus: false,
  });
  return (
    <Section title={texts.title} description={texts.about}>
      <FormError error={data ? null : error} />
      {data && <HoursForm projectId={projectId} saved={data.callingHours} />}
    </Section>
  );
}

function HoursForm({ projectId, saved }: { projectId: string; saved: Hours | null }) {
  const api = useApi();
  const queries = useQueryClient();
  const mayWrite = useScope('write');
  const [isLimited, setIsLimited] = useState(saved !== null);
  const [hours, setHours] = useState(saved ?? USUAL_HOURS);
  const set = (changes: Partial<Hours>) => setHours((before) => ({ ...before, ...changes }));
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: () =>
      bodyOf(
        api.PATCH('/v1/projects/{projectId}', {
          params: { path: { projectId } },
          body: { callingHours: isLimited ? hours : null },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['project', projectId] }),
  });
  return (
    <Stack component="form" onSubmit={handleSubmit(() => mutate())}>
      <Switch
        label={texts.limited}
        checked={isLimited}
        disabled={!mayWrite}
        onChange={(event) => setIsLimited(event.currentTarget.checked)}
      />
      {!isLimited && <Text size="sm">{texts.any}</Text>}
      {isLimited && <HoursFields hours={hours} set={set} mayWrite={mayWrite} />}
      <FormError error={error} />
      {isSuccess && <Text role="status">{texts.saved}</Text>}
      {mayWrite && (
        <Group>
          <Button type="submit" loading={isPending} disabled={isLimited && hours.windows.length === 0}>
            {texts.save}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

interface HoursFieldsProps {
  readonly hours: Hours;
  readonly set: (changes: Partial<Hours>) => void;
  readonly mayWrite: boolean;
}

function HoursFields({ hours, set, mayWrite }: HoursFieldsProps) {
  return (
    <>
      <WeekGrid
        label={texts.week}
        windows={hours.windows}
        onChange={(windows) => set({ windows })}
        isReadOnly={!mayWrite}
      />
      <ZoneSelect value={hours.timezone} onChange={(timezone) => set({ timezone })} />
      <TagsInput
        label={texts.exceptions}
        description={texts.exceptionsHelp}
        value={hours.exceptDates ?? []}
        onChange={(exceptDates) => set({ exceptDates })}
        readOnly={!mayWrite}
      />
      <Checkbox.Group
        label={texts.appliesTo}
        value={hours.appliesTo}
        onChange={(chosen) => set({ appliesTo: ORIGINS.filter((origin) => chosen.includes(origin)) })}
        readOnly={!mayWrite}
      >
        <Group mt={4}>
          {ORIGINS.map((origin) => (
            <Checkbox key={origin} value={origin} label={texts.origins[origin]} />
          ))}
        </Group>
      </Checkbox.Group>
    </>
  );
}
