import { infiniteQueryOptions } from '@tanstack/react-query';

import { type Api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';

export type SessionToReview = components['schemas']['SessionToReview'];
export type Verdict = components['schemas']['NewReview']['verdict'];
export type Reason = SessionToReview['why'][number];

const PAGE_SIZE = '50';

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
  infiniteQueryOptions({
    queryKey: ['reviews', projectId, status],
    queryFn: ({ pageParam }) =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/reviews', {
          params: {
            path: { projectId },
            query: { status, limit: PAGE_SIZE, cursor: pageParam || undefined },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => pagination.nextCursor,
  });
