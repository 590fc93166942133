import { Button, Checkbox, Group, NativeSelect, NumberInput, Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { FormError } from '../../../components/FormError.tsx';
import { handleSubmit } from '../../../components/handleSubmit.ts';
import { ItemList } from '../../../components/ItemList.tsx';
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
    guard: (number: number) => `Guard ${number}`,
    metric: 'Metric',
    kind: 'Limit',
    kinds: { maxDrop: 'worse by at most', max: 'at most' },
    value: 'Value',
    points: 'Points (of 100)',
    units: { duration: 'ms', latencyP95: 'ms' },
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
    guard: (number: number) => `護欄 ${number}`,
    metric: '指標',
    kind: '限制',
    kinds: { maxDrop: '最多變差', max: '最多' },
    value: '數值',
    points: '百分點',
    units: { duration: '毫秒', latencyP95: '毫秒' },
    add: '新增護欄',
    decideAfter: '新版本達到多少段對話後視為良好',
    rollback: '護欄觸發時退回',
    promote: '良好時讓所有人使用',
    start: '開始灰度發布',
  },
});

interface GuardValues {
  readonly metric: RolloutMetric;
  readonly kind: 'maxDrop' | 'max';
  /** Of shares in percent. */
  readonly value: string | number;
}

/** A drop of ten points of success is noticed; it needs an analysis with dispositions. */
const FIRST_GUARDS: readonly GuardValues[] = [
  { metric: 'success', kind: 'maxDrop', value: 10 },
  { metric: 'error', kind: 'maxDrop', value: 5 },
];

/** Starts a rollout of a release that is not live. */
export function RolloutForm({ projectId, onStarted }: { projectId: string; onStarted(): void }) {
  const api = useApi();
  const refresh = useRefreshAgent(projectId);
  const { data } = useInfiniteQuery(releasesQuery(api, projectId));
  const releases = data?.items ?? [];
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
  if (others.length === 0) return <Text>{texts.noRelease}</Text>;
  return (
    <Stack component="form" onSubmit={handleSubmit(() => start.mutate())}>
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
      <ItemList
        label={texts.guards}
        nameOf={texts.guard}
        addLabel={texts.add}
        items={guards}
        onChange={setGuards}
        makeItem={(): GuardValues => ({ metric: 'latencyP95', kind: 'maxDrop', value: 500 })}
      >
        {(guard, change) => <GuardFields guard={guard} onChange={change} />}
      </ItemList>
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
      <FormError error={start.error} />
      <Button type="submit" loading={start.isPending}>
        {texts.start}
      </Button>
    </Stack>
  );
}

interface GuardFieldsProps {
  readonly guard: GuardValues;
  onChange(guard: GuardValues): void;
}

function GuardFields({ guard, onChange }: GuardFieldsProps) {
  const { metric, kind, value } = guard;
  return (
    <Group gap="xs" align="flex-end">
      <NativeSelect
        label={texts.metric}
        data={ROLLOUT_METRICS.map((one) => ({ value: one, label: metricTexts[one] }))}
        value={metric}
        onChange={({ currentTarget }) =>
          onChange({ ...guard, metric: ROLLOUT_METRICS.find((one) => one === currentTarget.value) ?? metric })
        }
        flex="1 1 160px"
      />
      <NativeSelect
        label={texts.kind}
        data={(['maxDrop', 'max'] as const).map((one) => ({ value: one, label: texts.kinds[one] }))}
        value={kind}
        onChange={({ currentTarget }) =>
          onChange({ ...guard, kind: currentTarget.value === 'max' ? 'max' : 'maxDrop' })
        }
        flex="1 1 140px"
      />
      <NumberInput
        label={isShare(metric) ? texts.points : texts.value}
        suffix={metric in texts.units ? ` ${texts.units[metric as keyof typeof texts.units]}` : ''}
        value={value}
        min={0}
        onChange={(next) => onChange({ ...guard, value: next })}
        required
        flex="1 1 100px"
      />
    </Group>
  );
}

function guardOf({ metric, kind, value }: GuardValues) {
  return { metric, [kind]: isShare(metric) ? Number(value) / 100 : Number(value) };
}
