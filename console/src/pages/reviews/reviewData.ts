import { infiniteQueryOptions } from '@tanstack/react-query';

import { type Api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { textsIn } from '../../texts.ts';

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

export const reasonTexts = textsIn<Readonly<Record<Reason, string>>>({
  en: {
    failed_criterion: 'A criterion was not met',
    no_disposition: 'No disposition',
    not_understood: 'The caller was not understood',
    long_silence: 'A long silence',
    interrupted_often: 'Interrupted often',
    random: 'By chance',
  },
  'zh-TW': {
    failed_criterion: '未符合準則',
    no_disposition: '無結果分類',
    not_understood: '聽不懂來電者',
    long_silence: '長時間沉默',
    interrupted_often: '經常被打斷',
    random: '隨機',
  },
});

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
