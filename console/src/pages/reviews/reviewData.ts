import { type Api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { listQuery } from '../../components/PagedTable.tsx';

export type SessionToReview = components['schemas']['SessionToReview'];
export type Verdict = components['schemas']['NewReview']['verdict'];
export type Reason = SessionToReview['why'][number];

/** In the order in which they are offered. */
export const REASONS = [
  'failed_criterion',
  'no_disposition',
  'not_understood',
  'long_silence',
  'interrupted_often',
  'random',
] as const satisfies Reason[];

/** The queue, or what was reviewed, newest first. */
export const reviewsQuery = (api: Api, projectId: string, status: 'open' | 'done') =>
  listQuery(['reviews', projectId, status], (page) =>
    bodyOf(
      api.GET('/v1/projects/{projectId}/reviews', {
        params: { path: { projectId }, query: { status, ...page } },
      }),
    ),
  );
