import { useQuery, useQueryClient } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { locale } from '../../texts.ts';
import { documentErrorZh } from './documentErrorsZh.ts';

export type Knowledgebase = components['schemas']['Knowledgebase'];
export type Document = components['schemas']['Dataset'];
export type Chunk = components['schemas']['Chunk'];

/** While a document is being processed; there is no event for it. */
const PROGRESS_EVERY_MS = 1_500;

/** Why a document or a list cannot be read, in the browser's language. */
export const documentErrorText = (message: string): string =>
  locale === 'zh-TW' ? documentErrorZh(message) : message;

/** The project's knowledge base; null before it is created. */
export function useKnowledgebase(projectId: string) {
  const api = useApi();
  return useQuery({
    queryKey: ['knowledgebase', projectId],
    queryFn: async () => {
      const [knowledgebase = null] = await bodyOf(
        api.GET('/v1/projects/{projectId}/knowledgebases', { params: { path: { projectId } } }),
      );
      return knowledgebase;
    },
  });
}

/** Its documents, the newest first; again and again while one of them is being processed. */
export function useDocuments(projectId: string, knowledgebaseId: string) {
  const api = useApi();
  return useQuery({
    queryKey: ['documents', projectId],
    queryFn: async () => {
      const found = await bodyOf(
        api.GET('/v1/projects/{projectId}/knowledgebases/{knowledgebaseId}/datasets', {
          params: { path: { projectId, knowledgebaseId } },
        }),
      );
      return found.toReversed();
    },
    refetchInterval: ({ state }) => (state.data?.some(isInProgress) ? PROGRESS_EVERY_MS : false),
  });
}

export function isInProgress({ status }: Document): boolean {
  return status === 'pending' || status === 'processing';
}

export function useDeleteDocument(projectId: string, knowledgebaseId: string, datasetId: string) {
  const api = useApi();
  const queries = useQueryClient();
  return async () => {
    await api.DELETE('/v1/projects/{projectId}/knowledgebases/{knowledgebaseId}/datasets/{datasetId}', {
      params: { path: { projectId, knowledgebaseId, datasetId } },
    });
    await queries.invalidateQueries({ queryKey: ['documents', projectId] });
  };
}
