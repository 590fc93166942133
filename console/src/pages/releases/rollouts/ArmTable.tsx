import { Table, Text } from '@mantine/core';

import { formatNumber } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';
import { formatMetric, isShare, metricTexts } from '../../insights/insightData.ts';
import { releaseText } from '../releaseData.ts';
import { type ArmFigure, ROLLOUT_METRICS, type Rollout, type RolloutMetric } from './rolloutData.ts';
import classes from './rollouts.module.css';

const texts = textsIn({
  en: {
    title: 'Figures of both releases',
    metric: 'Metric',
    sessions: (count: string) => `${count} conversations`,
    interval: (low: string, high: string) => `${low} to ${high}`,
    n: (n: string) => `n ${n}`,
    help: 'The bars are intervals that hold with 95 % at every look: where two do not overlap, the difference is no accident.',
    none: 'No conversation on either release has ended yet.',
  },
  'zh-TW': {
    title: '兩個版本的數據',
    metric: '指標',
    sessions: (count: string) => `${count} 段對話`,
    interval: (low: string, high: string) => `${low} 至 ${high}`,
    n: (n: string) => `n ${n}`,
    help: '橫條是隨時查看都有 95% 信心的區間：兩者不重疊時，差異並非偶然。',
    none: '兩個版本都還沒有已結束的對話。',
  },
});

interface ArmTableProps {
  readonly arms: Rollout['arms'];
  readonly currency: string | undefined;
}

/** The metrics of both releases, each with its interval. */
export function ArmTable({ arms, currency }: ArmTableProps) {
  const known = ROLLOUT_METRICS.filter((metric) => arms.some(({ metrics }) => metrics[metric]?.n));
  if (known.length === 0) return <Text size="sm">{texts.none}</Text>;
  return (
    <>
      <Table.ScrollContainer minWidth={320}>
        <Table aria-label={texts.title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.metric}</Table.Th>
              {arms.map(({ release, sessions }) => (
                <Table.Th key={release}>
                  {releaseText(release)}
                  <Text size="xs" c="dimmed">
                    {texts.sessions(formatNumber(sessions))}
                  </Text>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {known.map((metric) => {
              const scale = scaleOf(
                metric,
                arms.map(({ metrics }) => metrics[metric]),
              );
              return (
                <Table.Tr key={metric}>
                  <Table.Th scope="row" fw={400}>
                    {metricTexts[metric]}
                  </Table.Th>
                  {arms.map(({ release, metrics }) => (
                    <Table.Td key={release}>
                      <Figure metric={metric} figure={metrics[metric]} scale={scale} currency={currency} />
                    </Table.Td>
                  ))}
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="xs" c="dimmed">
        {texts.help}
      </Text>
    </>
  );
}

interface FigureProps {
  readonly metric: RolloutMetric;
  readonly figure: ArmFigure | undefined;
  readonly scale: { readonly from: number; readonly to: number };
  readonly currency: string | undefined;
}

function Figure({ metric, figure, scale, currency }: FigureProps) {
  if (!figure || figure.value === null) return '–';
  const { value, low, high, n } = figure;
  const place = (one: number) => `${(100 * (one - scale.from)) / (scale.to - scale.from || 1)}%`;
  return (
    <>
      {formatMetric(metric, value, currency)}{' '}
      <Text span size="xs" c="dimmed" ms="xs">
        {texts.n(formatNumber(n))}
      </Text>
      {low !== null && high !== null && (
        <>
          <div className={classes.scale} aria-hidden>
            <div
              className={classes.interval}
              style={{ left: place(low), right: `calc(100% - ${place(high)})` }}
            />
            <div className={classes.value} style={{ left: place(value) }} />
          </div>
          <Text size="xs" c="dimmed">
            {texts.interval(formatMetric(metric, low, currency), formatMetric(metric, high, currency))}
          </Text>
        </>
      )}
    </>
  );
}

/** The same scale for both, so that intervals can be compared. */
function scaleOf(metric: RolloutMetric, figures: readonly (ArmFigure | undefined)[]) {
  if (isShare(metric)) return { from: 0, to: 1 };
  const ends = figures.flatMap((figure) => (figure ? [figure.low, figure.value, figure.high] : []));
  return { from: 0, to: Math.max(0, ...ends.filter((end) => end !== null)) };
}
