import { Alert, Badge, Button, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../../api/apiContext.tsx';
import { ConfirmButton } from '../../../components/ConfirmButton.tsx';
import { handleSubmit } from '../../../components/handleSubmit.ts';
import { formatDateTime, formatNumber } from '../../../formats.ts';
import { ErrorPage } from '../../../layout/ErrorPage.tsx';
import { COLON, SEMICOLON, textsIn } from '../../../texts.ts';
import { formatMetric, isShare, metricTexts } from '../../insights/insightData.ts';
import { useRefreshAgent } from '../releaseData.ts';
import { ArmTable } from './ArmTable.tsx';
import { type Guard, type Rollout, rolloutQuery, rolloutTexts } from './rolloutData.ts';

const texts = textsIn({
  en: {
    who: (percent: number, release: number, before: number) =>
      `${percent}% of people get release ${release}, the others release ${before}.`,
    since: (at: string) => `since ${at}`,
    guards: 'Guards',
    noGuards: 'no guards: nothing is taken back by itself',
    drop: (metric: string, value: string) => `${metric} at most ${value} worse`,
    max: (metric: string, value: string) => `${metric} at most ${value}`,
    onBad: { rollback: 'when one fires, it is rolled back', alert: 'when one fires, you are told' },
    good: (sessions: string) => `Good after ${sessions} conversations without one`,
    onGood: { promote: 'then everyone gets it', alert: 'then you are told' },
    decided: (reason: string, at: string) => `${reason}, ${at}`,
    figure: (metric: string, before: string, after: string) => `${metric}: ${before} before, ${after} after`,
    percent: 'Share of people, in percent',
    change: 'Change the share',
    promote: 'Give it to everyone',
    promoteQuestion: (release: number) =>
      `Give release ${release} to everyone from the next conversation on?`,
    rollback: 'Roll back',
    rollbackQuestion: (release: number) =>
      `Give everyone release ${release} again from the next conversation on?`,
  },
  'zh-TW': {
    who: (percent: number, release: number, before: number) =>
      `${percent}% 的人使用版本 ${release}，其他人使用版本 ${before}。`,
    since: (at: string) => `自 ${at} 起`,
    guards: '護欄',
    noGuards: '沒有護欄：不會自動退回',
    drop: (metric: string, value: string) => `${metric}最多差 ${value}`,
    max: (metric: string, value: string) => `${metric}最多 ${value}`,
    onBad: { rollback: '觸發時退回', alert: '觸發時只通知' },
    good: (sessions: string) => `${sessions} 段對話未觸發即視為良好`,
    onGood: { promote: '之後所有人使用', alert: '之後只通知' },
    decided: (reason: string, at: string) => `${reason}，${at}`,
    figure: (metric: string, before: string, after: string) => `${metric}：之前 ${before}，之後 ${after}`,
    percent: '使用者比例（%）',
    change: '更改比例',
    promote: '讓所有人使用',
    promoteQuestion: (release: number) => `從下一段對話起，讓所有人使用版本 ${release}？`,
    rollback: '退回',
    rollbackQuestion: (release: number) => `從下一段對話起，讓所有人恢復使用版本 ${release}？`,
  },
});

interface RolloutViewProps {
  readonly projectId: string;
  readonly rolloutId: string;
  readonly mayWrite: boolean;
}

/** Who gets which release, how both do, and what was decided. */
export function RolloutView({ projectId, rolloutId, mayWrite }: RolloutViewProps) {
  const api = useApi();
  const { data: rollout, error } = useQuery(rolloutQuery(api, projectId, rolloutId));
  if (!rollout) return error ? <ErrorPage error={error} /> : null;
  const { release, previousRelease, percent, status, startedAt, currency } = rollout;
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Badge color={status === 'rolled_back' ? 'red' : 'green'}>{rolloutTexts.statuses[status]}</Badge>
        <Text>{texts.who(percent, release, previousRelease)}</Text>
        <Text size="sm" c="dimmed">
          {texts.since(formatDateTime(startedAt))}
        </Text>
      </Group>
      {rulesOf(rollout).map((rule) => (
        <Text key={rule} size="sm">
          {rule}
        </Text>
      ))}
      <Decision rollout={rollout} />
      <ArmTable arms={rollout.arms} currency={currency} />
      {mayWrite && status === 'running' && <Actions projectId={projectId} rollout={rollout} />}
    </Stack>
  );
}

/** When it is taken back, and when it is good. */
function rulesOf({ guards, decideAfter, onBad, onGood, currency }: Rollout): string[] {
  const limit = ({ metric, maxDrop, max }: Guard) =>
    maxDrop === undefined
      ? texts.max(metricTexts[metric], formatMetric(metric, max ?? 0, currency))
      : texts.drop(metricTexts[metric], pointsText(metric, maxDrop, currency));
  const bad =
    guards.length === 0 ? texts.noGuards : [...guards.map(limit), texts.onBad[onBad]].join(SEMICOLON);
  const good = [texts.good(formatNumber(decideAfter.sessions)), texts.onGood[onGood]].join(SEMICOLON);
  return [texts.guards + COLON + bad, good];
}

/** A difference: of shares in points. */
function pointsText(metric: Guard['metric'], value: number, currency: string | undefined): string {
  return isShare(metric) ? `${formatNumber(100 * value)} %` : formatMetric(metric, value, currency);
}

function Decision({ rollout: { decision, status, currency } }: { rollout: Rollout }) {
  if (!decision) return null;
  const { reason, at, figures } = decision;
  const isBad = reason === 'guard' || status === 'rolled_back';
  return (
    <Alert
      color={isBad ? 'red' : 'green'}
      title={texts.decided(rolloutTexts.reasons[reason], formatDateTime(at))}
    >
      {figures.map(({ metric, old, new: changed }) => (
        <Text key={metric} size="sm">
          {texts.figure(
            metricTexts[metric],
            old.value === null ? '–' : formatMetric(metric, old.value, currency),
            changed.value === null ? '–' : formatMetric(metric, changed.value, currency),
          )}
        </Text>
      ))}
    </Alert>
  );
}

function Actions({ projectId, rollout }: { projectId: string; rollout: Rollout }) {
  const api = useApi();
  const refresh = useRefreshAgent(projectId);
  const [percent, setPercent] = useState<string | number>(rollout.percent);
  const path = { projectId, rolloutId: rollout.id };
  const change = useMutation({
    mutationFn: () =>
      api.PATCH('/v1/projects/{projectId}/rollouts/{rolloutId}', {
        params: { path },
        body: { percent: Number(percent) },
      }),
    onSettled: refresh,
  });
  const finish = async (verb: 'promote' | 'rollback') => {
    await api.POST(`/v1/projects/{projectId}/rollouts/{rolloutId}/${verb}`, { params: { path } });
    await refresh();
  };
  return (
    <Group align="flex-end" gap="xs" component="form" onSubmit={handleSubmit(() => change.mutate())}>
      <NumberInput
        label={texts.percent}
        value={percent}
        min={1}
        max={99}
        allowDecimal={false}
        onChange={setPercent}
        error={change.error?.message}
        w={220}
      />
      <Button type="submit" variant="default" loading={change.isPending}>
        {texts.change}
      </Button>
      <ConfirmButton
        size="sm"
        question={texts.promoteQuestion(rollout.release)}
        action={() => finish('promote')}
      >
        {texts.promote}
      </ConfirmButton>
      <ConfirmButton
        size="sm"
        question={texts.rollbackQuestion(rollout.previousRelease)}
        action={() => finish('rollback')}
      >
        {texts.rollback}
      </ConfirmButton>
    </Group>
  );
}
