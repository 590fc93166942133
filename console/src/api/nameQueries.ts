import { queryOptions } from '@tanstack/react-query';

import { type Api, bodyOf } from './client.ts';

const MOST = '200';
const KEPT_MS = 60_000;

/** The newest campaigns of a project, for lists of choices and to name those in figures. */
export const campaignNamesQuery = (api: Api, projectId: string) =>
  queryOptions({
    queryKey: ['campaigns', projectId, 'names'],
    queryFn: async () => {
      const params = { path: { projectId }, query: { limit: MOST } };
      return namesOf((await bodyOf(api.GET('/v1/projects/{projectId}/campaigns', { params }))).data);
    },
    staleTime: KEPT_MS,
  });

/** The trunks of a project. */
export const trunkNamesQuery = (api: Api, projectId: string) =>
  queryOptions({
    queryKey: ['trunks', projectId, 'names'],
    queryFn: async () => {
      const params = { path: { projectId }, query: { limit: MOST } };
      return namesOf((await bodyOf(api.GET('/v1/projects/{projectId}/trunks', { params }))).data);
    },
    staleTime: KEPT_MS,
  });

function namesOf(items: readonly { readonly id: string; readonly name: string }[]) {
  return items.map(({ id, name }) => [id, name] as const);
}
