import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  NativeSelect,
  NumberInput,
  Select,
  Stack,
  Text,
} from '@mantine/core';
import { Cross2Icon, PlusIcon } from '@radix-ui/react-icons';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { textsIn } from '../../../texts.ts';
import { isShare, metricTexts } from '../../insights/insightData.ts';
import { releasesQuery, releaseText, useRefreshAgent } from '../releaseData.ts';
import { ROLLOUT_METRICS, type RolloutMetric } from './rolloutData.ts';

const texts = textsIn({
  en: {
    release: 'New release',
    noRelease: 'There is no release but the live one. Publish one without “live” first.',
    percent: 'Share of people, in percent',
    guards: 'Guards: what must not become worse',
    metric: 'Metric',
    kind: 'Limit',
    kinds: { maxDrop: 'worse by at most', max: 'at most' },
    value: 'Value',
    points: 'Points (of 100)',
    units: { duration: 'ms', latencyP95: 'ms' },
    remove: 'Remove the guard',
    add: 'Add a guard',
    decideAfter: 'Good after conversations on the new release',
    rollback: 'Roll back when a guard fires',
    promote: 'Give it to everyone when it is good',
    start: 'Start the rollout',
  },
  'zh-TW': {
    release: '新版本',
    noRelease: '除了線上版本沒有其他版本。請先發布一個不立即上線的版本。',
    percent: '使用者比例（%）',
    guards: '護欄：不可變差的指標',
    metric: '指標',
    kind: '限制',
    kinds: { maxDrop: '最多變差', max: '最多' },
    value: '數值',
    points: '百分點',
    units: { duration: '毫秒', latencyP95: '毫秒' },
    remove: '移除護欄',
    add: '新增護欄',
    decideAfter: '新版本達到多少段對話後視為良好',
    rollback: '護欄觸發時退回',
    promote: '良好時讓所有人使用',
    start: '開始灰度發布',
  },
});

interface GuardValues {
  readonly id: number;
  readonly metric: RolloutMetric;
  readonly kind: 'maxDrop' | 'max';
  /** Of shares in percent. */
  readonly value: string | number;
}

/** A drop of ten points of success is noticed; it needs an analysis with dispositions. */
const FIRST_GUARDS: readonly GuardValues[] = [
  { id: 0, metric: 'success', kind: 'maxDrop', value: 10 },
  { id: 1, metric: 'error', kind: 'maxDrop', value: 5 },
];

/** Starts a rollout of a release that is not live. */
export function RolloutForm({ projectId, onStarted }: { projectId: string; onStarted(): void }) {
  const api = useApi();
  const refresh = useRefreshAgent(projectId);
  const { data: releases = [] } = useInfiniteQuery(releasesQuery(api, projectId));
  const others = releases.filter(({ isLive }) => !isLive);
  const [chosen, setChosen] = useState<string | null>(null);
  const release = chosen ?? (others[0] ? String(others[0].release) : null);
  const [percent, setPercent] = useState<string | number>(10);
  const [guards, setGuards] = useState(FIRST_GUARDS);
  const [sessions, setSessions] = useState<string | number>(500);
  const [isRolledBack, setRolledBack] = useState(true);
  const [isPromoted, setPromoted] = useState(false);
  const start = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v1/projects/{projectId}/rollouts', {
          params: { path: { projectId } },
          body: {
            release: Number(release),
            percent: Number(percent),
            guards: guards.map(guardOf),
            decideAfter: { sessions: Number(sessions) },
            onBad: isRolledBack ? 'rollback' : 'alert',
            onGood: isPromoted ? 'promote' : 'alert',
          },
        }),
      ),
    onSuccess: async () => {
      await refresh();
      onStarted();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start.mutate();
  };
  const change = (id: number, next: Partial<GuardValues>) =>
    setGuards(guards.map((one) => (one.id === id ? { ...one, ...next } : one)));
  if (others.length === 0) return <Text>{texts.noRelease}</Text>;
  return (
    <Stack component="form" onSubmit={submit}>
      <Select
        label={texts.release}
        data={others.map((one) => ({
          value: String(one.release),
          label: [releaseText(one.release), one.note].filter(Boolean).join(' · '),
        }))}
        value={release}
        allowDeselect={false}
        onChange={setChosen}
      />
      <NumberInput
        label={texts.percent}
        value={percent}
        min={1}
        max={99}
        allowDecimal={false}
        onChange={setPercent}
        required
      />
      <Stack
        gap="xs"
        component="fieldset"
        m={0}
        p="sm"
        style={{ border: '1px solid var(--mantine-color-default-border)' }}
      >
        <Text component="legend" size="sm" fw={500} px={4}>
          {texts.guards}
        </Text>
        {guards.map((guard) => (
          <GuardFields
            key={guard.id}
            guard={guard}
            onChange={(next) => change(guard.id, next)}
            onRemove={() => setGuards(guards.filter(({ id }) => id !== guard.id))}
          />
        ))}
        <Button
          variant="default"
          size="xs"
          leftSection={<PlusIcon />}
          onClick={() =>
            setGuards([...guards, { id: nextId(guards), metric: 'latencyP95', kind: 'maxDrop', value: 500 }])
          }
        >
          {texts.add}
        </Button>
      </Stack>
      <NumberInput
        label={texts.decideAfter}
        value={sessions}
        min={1}
        max={1_000_000}
        allowDecimal={false}
        onChange={setSessions}
        required
      />
      <Checkbox
        label={texts.rollback}
        checked={isRolledBack}
        onChange={(event) => setRolledBack(event.currentTarget.checked)}
      />
      <Checkbox
        label={texts.promote}
        checked={isPromoted}
        onChange={(event) => setPromoted(event.currentTarget.checked)}
      />
      {start.error && (
        <Text c="var(--mantine-color-error)" size="sm" role="alert">
          {start.error.message}
        </Text>
      )}
      <Button type="submit" loading={start.isPending}>
        {texts.start}
      </Button>
    </Stack>
  );
}

interface GuardFieldsProps {
  readonly guard: GuardValues;
  onChange(next: Partial<GuardValues>): void;
  onRemove(): void;
}

function GuardFields({ guard: { metric, kind, value }, onChange, onRemove }: GuardFieldsProps) {
  return (
    <Group gap="xs" align="flex-end" role="group" aria-label={metricTexts[metric]}>
      <NativeSelect
        label={texts.metric}
        data={ROLLOUT_METRICS.map((one) => ({ value: one, label: metricTexts[one] }))}
        value={metric}
        onChange={({ currentTarget }) => {
          const next = ROLLOUT_METRICS.find((one) => one === currentTarget.value);
          if (next) onChange({ metric: next });
        }}
        flex="1 1 160px"
      />
      <NativeSelect
        label={texts.kind}
        data={(['maxDrop', 'max'] as const).map((one) => ({ value: one, label: texts.kinds[one] }))}
        value={kind}
        onChange={({ currentTarget }) =>
          onChange({ kind: currentTarget.value === 'max' ? 'max' : 'maxDrop' })
        }
        flex="1 1 140px"
      />
      <NumberInput
        label={isShare(metric) ? texts.points : texts.value}
        suffix={metric in texts.units ? ` ${texts.units[metric as keyof typeof texts.units]}` : ''}
        value={value}
        min={0}
        onChange={(next) => onChange({ value: next })}
        required
        flex="1 1 100px"
      />
      <ActionIcon variant="default" size="input-sm" aria-label={texts.remove} onClick={onRemove}>
        <Cross2Icon />
      </ActionIcon>
    </Group>
  );
}

function guardOf({ metric, kind, value }: GuardValues) {
  return { metric, [kind]: isShare(metric) ? Number(value) / 100 : Number(value) };
}

const nextId = (guards: readonly GuardValues[]) => Math.max(-1, ...guards.map(({ id }) => id)) + 1;
