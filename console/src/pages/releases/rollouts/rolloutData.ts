import { queryOptions } from '@tanstack/react-query';

import { type Api, bodyOf } from '../../../api/client.ts';
import { type LiveEventType, useLiveRefresh } from '../../../api/liveEvents.ts';
import type { components } from '../../../api/schema.d.ts';
import { textsIn } from '../../../texts.ts';

export type Rollout = components['schemas']['Rollout'];
export type ListedRollout = components['schemas']['ListedRollout'];
export type RolloutMetric = ListedRollout['guards'][number]['metric'];
export type Guard = ListedRollout['guards'][number];
export type Figures = NonNullable<ListedRollout['decision']>['figures'][number];
export type ArmFigure = Figures['old'];

/** Of figures; what is decided is told by live events. */
const REFRESH_MS = 30_000;
const EVENTS = [
  'rollout.started',
  'rollout.alert',
  'rollout.promoted',
  'rollout.rolled_back',
  'rollout.ended',
] as const satisfies LiveEventType[];
const MOST = '50';

/** In the order in which they are shown. */
export const ROLLOUT_METRICS = [
  'success',
  'evaluation',
  'answered',
  'error',
  'latencyP95',
  'duration',
  'toolFailures',
  'interruptions',
  'transfers',
  'cost',
] as const satisfies RolloutMetric[];

export const rolloutTexts = textsIn({
  en: {
    statuses: { running: 'Running', promoted: 'Promoted', rolled_back: 'Rolled back', ended: 'Ended' },
    reasons: {
      guard: 'A guard fired',
      enough_sessions: 'Enough conversations, and no guard fired',
      requested: 'Decided by hand',
      agent_changed: 'Ended by an edit or a publication',
    },
  },
  'zh-TW': {
    statuses: { running: '進行中', promoted: '已全面發布', rolled_back: '已退回', ended: '已結束' },
    reasons: {
      guard: '護欄被觸發',
      enough_sessions: '對話數已足夠，且未觸發護欄',
      requested: '手動決定',
      agent_changed: '因編輯或發布而結束',
    },
  },
});

/** All rollouts, newest first. */
export const rolloutsQuery = (api: Api, projectId: string) =>
  queryOptions({
    queryKey: ['rollouts', projectId],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/rollouts', {
          params: { path: { projectId }, query: { limit: MOST } },
        }),
      ),
    refetchInterval: REFRESH_MS,
  });

/** One, with the figures of both releases. */
export const rolloutQuery = (api: Api, projectId: string, rolloutId: string) =>
  queryOptions({
    queryKey: ['rollouts', projectId, rolloutId],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/rollouts/{rolloutId}', {
          params: { path: { projectId, rolloutId } },
        }),
      ),
    refetchInterval: REFRESH_MS,
  });

/** Reads rollouts and releases again when one is started or decided, by whatever hand. */
export function useRolloutEvents(projectId: string): void {
  useLiveRefresh(projectId, EVENTS, [
    ['rollouts', projectId],
    ['releases', projectId],
    ['agent', projectId],
  ]);
}
