import { useQueryClient } from '@tanstack/react-query';

import { type Api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { listQuery } from '../../components/PagedTable.tsx';
import { textsIn } from '../../texts.ts';

export type Release = components['schemas']['Release'];
export type Diff = components['schemas']['ReleaseDiff'];
export type FieldDiff = Diff['agent'][number];

const texts = textsIn({
  en: { release: (release: number) => `Release ${release}`, draft: 'Draft' },
  'zh-TW': { release: (release: number) => `版本 ${release}`, draft: '草稿' },
});

/** What a session or a figure ran on, in words. @param release - A number, or `draft`. */
export function releaseText(release: number | string): string {
  return release === 'draft' ? texts.draft : texts.release(Number(release));
}

/** The releases of a project, newest first, page by page. */
export const releasesQuery = (api: Api, projectId: string) =>
  listQuery(['releases', projectId], (page) =>
    bodyOf(api.GET('/v1/projects/{projectId}/releases', { params: { path: { projectId }, query: page } })),
  );

/** Loads again what a publication or a restored release has changed. */
export function useRefreshAgent(projectId: string): () => Promise<unknown> {
  const queries = useQueryClient();
  return () =>
    Promise.all(
      ['releases', 'rollouts', 'agent', 'pathway', 'versions'].map((name) =>
        queries.invalidateQueries({ queryKey: [name, projectId] }),
      ),
    );
}
