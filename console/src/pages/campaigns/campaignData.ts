import { useQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { type Api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';

/** While calls go out. */
const RUNNING_REFRESH_MS = 3_000;
const REFRESH_MS = 15_000;

export type Campaign = components['schemas']['Campaign'];
export type Contact = components['schemas']['CampaignContact'];

/** In the order in which they are shown. */
export const OUTCOMES = [
  'answered',
  'machine',
  'screening',
  'busy',
  'no_answer',
  'declined',
  'invalid_number',
  'failed',
  'canceled',
] as const satisfies NonNullable<Contact['outcome']>[];
export const CONTACT_STATUSES = [
  'pending',
  'calling',
  'waiting',
  'done',
  'skipped',
] as const satisfies Contact['status'][];

/** Whether it calls no one any more. */
export const isOver = ({ status }: Campaign): boolean => status === 'completed' || status === 'canceled';
/** Whether its settings can be changed. */
export const isAtRest = ({ status }: Campaign): boolean => status === 'draft' || status === 'paused';

export const refreshMsOf = ({ status, counts }: Campaign): number =>
  status === 'running' || counts.calling > 0 ? RUNNING_REFRESH_MS : REFRESH_MS;

export function useCampaign(projectId: string, campaignId: string) {
  const api = useApi();
  return useQuery({
    queryKey: ['campaigns', projectId, campaignId],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/campaigns/{campaignId}', {
          params: { path: { projectId, campaignId } },
        }),
      ),
    refetchInterval: ({ state }) => (state.data ? refreshMsOf(state.data) : false),
  });
}

/** Filters of a campaign's contacts; an empty text is none. */
export interface ContactFilters {
  readonly status?: Contact['status'] | undefined;
  readonly outcome?: Contact['outcome'];
  readonly toNumber?: string;
  readonly externalId?: string;
}

export function fetchContacts(
  api: Api,
  path: { projectId: string; campaignId: string },
  { status, outcome, toNumber, externalId }: ContactFilters,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
) {
  return bodyOf(
    api.GET('/v1/projects/{projectId}/campaigns/{campaignId}/contacts', {
      params: {
        path,
        query: {
          status,
          outcome,
          toNumber: toNumber || undefined,
          externalId: externalId || undefined,
          limit: `${limit}`,
          cursor,
        },
      },
    }),
  );
}
