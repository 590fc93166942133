import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';

type Added = { readonly numbers: string[]; readonly reason: string | undefined };
type ListPage = { readonly limit: string; readonly cursor: string | undefined };
type Entry = components['schemas']['DoNotCallEntry'];

/** The list of a project, or of the installation. */
export interface DoNotCallList {
  /** Undefined for the installation. */
  readonly projectId: string | undefined;
  readonly path: string;
  readonly queryKey: readonly unknown[];
  read(page: ListPage): Promise<{ data: Entry[]; pagination: { nextCursor: string | null } }>;
  add(numbers: Added): Promise<{ added: number; known: number } | { importId: string }>;
  /** @throws {ApiError} 404 where it is not listed. */
  find(number: string): Promise<Entry>;
  remove(number: string): Promise<unknown>;
}

/** @param projectId - Undefined for the installation's list. */
export function useDoNotCallList(projectId: string | undefined): DoNotCallList {
  const api = useApi();
  const shared = { projectId, queryKey: ['do-not-call', projectId] };
  if (projectId === undefined)
    return {
      ...shared,
      path: '/v1/do-not-call',
      read: (query) => bodyOf(api.GET('/v1/do-not-call', { params: { query } })),
      add: (body) => bodyOf(api.POST('/v1/do-not-call', { body })),
      find: (number) => bodyOf(api.GET('/v1/do-not-call/{number}', { params: { path: { number } } })),
      remove: (number) => api.DELETE('/v1/do-not-call/{number}', { params: { path: { number } } }),
    };
  const path = { projectId };
  return {
    ...shared,
    path: `/v1/projects/${projectId}/do-not-call`,
    read: (query) => bodyOf(api.GET('/v1/projects/{projectId}/do-not-call', { params: { path, query } })),
    add: (body) => bodyOf(api.POST('/v1/projects/{projectId}/do-not-call', { params: { path }, body })),
    find: (number) =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/do-not-call/{number}', { params: { path: { ...path, number } } }),
      ),
    remove: (number) =>
      api.DELETE('/v1/projects/{projectId}/do-not-call/{number}', { params: { path: { ...path, number } } }),
  };
}
