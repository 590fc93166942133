import { useQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { type Api, bodyOf } from '../../api/client.ts';
import { type LiveEventType, useLiveRefresh } from '../../api/liveEvents.ts';
import type { components } from '../../api/schema.d.ts';
import { formatDateTime } from '../../formats.ts';
import { textsIn } from '../../texts.ts';

const texts = textsIn({ en: { now: 'At once' }, 'zh-TW': { now: '立即' } });

/** Live events tell the changes; this finds what they have missed. */
export const REFRESH_MS = 15_000;
const CAMPAIGN_EVENTS = [
  'campaign.started',
  'campaign.paused',
  'campaign.resumed',
  'campaign.completed',
  'campaign.canceled',
  'contact.finished',
  'call.queued',
  'call.ended',
] as const satisfies LiveEventType[];

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
/** When a contact may be called. */
export const nextAttemptText = (nextAttemptAt = ''): string =>
  Date.parse(nextAttemptAt) <= Date.now() ? texts.now : formatDateTime(nextAttemptAt);

/** Whether its settings can be changed. */
export const isAtRest = ({ status }: Campaign): boolean => status === 'draft' || status === 'paused';

/** Reads campaigns again when live events tell a change. @param campaignId - One of them; default: all. */
export function useCampaignEvents(projectId: string, campaignId?: string): void {
  useLiveRefresh(projectId, CAMPAIGN_EVENTS, [['campaigns', projectId]], ({ data }) => {
    const changed = 'campaignId' in data ? data.campaignId : undefined;
    return changed !== undefined && (campaignId ?? changed) === changed;
  });
}

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
    refetchInterval: REFRESH_MS,
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
  page: { limit: string; cursor?: string | undefined },
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
          ...page,
        },
      },
    }),
  );
}
