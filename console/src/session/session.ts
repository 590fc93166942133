import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';

import { bodyOf, createApi } from '../api/client.ts';

const api = createApi();

/** Who is signed in, by the browser's cookie. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => bodyOf(api.GET('/console/session')),
  staleTime: 60_000,
});

export type Session = Awaited<ReturnType<NonNullable<typeof sessionQuery.queryFn>>>;

/** The session of a signed-in user. @see SignedIn */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data;
}

/** Whether the session may use routes with the scope. */
export function useScope(scope: NonNullable<Session['scopes']>[number]): boolean {
  const { kind, scopes } = useSession();
  return kind === 'operator' || (scopes ?? []).includes(scope);
}

/** @throws {ApiError} 401 for an unknown token. */
export async function signIn(token: string): Promise<void> {
  await api.POST('/console/session', { body: { token } });
}

export async function signOut(): Promise<void> {
  await api.DELETE('/console/session');
}
