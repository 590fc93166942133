import { createContext, type ReactNode, useContext, useMemo } from 'react';

import { useRenewSession } from '../session/session.ts';
import { type Api, createApi } from './client.ts';

const ApiContext = createContext<Api>(createApi());

interface ApiProviderProps {
  /** Requests below it are for the project. */
  projectId?: string;
  children: ReactNode;
}

/** Requests below it outlive a session that ends: they wait until the user is signed in again. */
export function ApiProvider({ projectId, children }: ApiProviderProps) {
  const renewSession = useRenewSession();
  const api = useMemo(() => createApi({ projectId, renewSession }), [projectId, renewSession]);
  return <ApiContext value={api}>{children}</ApiContext>;
}

export function useApi(): Api {
  return useContext(ApiContext);
}
