import { createContext, type ReactNode, useContext, useMemo } from 'react';

import { type Api, createApi } from './client.ts';

const ApiContext = createContext<Api>(createApi());

/** Requests below it are for the project. */
export function ProjectApi({ projectId, children }: { projectId: string; children: ReactNode }) {
  const api = useMemo(() => createApi(projectId), [projectId]);
  return <ApiContext value={api}>{children}</ApiContext>;
}

export function useApi(): Api {
  return useContext(ApiContext);
}
