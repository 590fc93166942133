import { queryOptions } from '@tanstack/react-query';
import { createContext, useContext } from 'react';

import { bodyOf, createApi } from '../api/client.ts';

const api = createApi();

/** A page at which nothing happens, too, is closed within a minute of the session's end. */
const CHECK_MS = 30_000;

/** Who is signed in, by the browser's cookie. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => bodyOf(api.GET('/console/session')),
  staleTime: 60_000,
  refetchInterval: CHECK_MS,
});

export type Session = Awaited<ReturnType<NonNullable<typeof sessionQuery.queryFn>>>;

/** What the pages of a signed-in user know of the session. @see SignedIn */
export const SessionContext = createContext<{
  /** The last one, while it has ended and the user signs in again. */
  readonly session: Session;
  readonly renewSession: () => Promise<void>;
}>({ session: { kind: 'none' }, renewSession: async () => undefined });

/** The session of a signed-in user. */
export function useSession(): Session {
  return useContext(SessionContext).session;
}

/** @returns A function that resolves at once while the session lasts, else when the user has signed in again. */
export function useRenewSession(): () => Promise<void> {
  return useContext(SessionContext).renewSession;
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
