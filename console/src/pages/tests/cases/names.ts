import { useQuery } from '@tanstack/react-query';

import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';

/** The ids of the pathway's nodes, to choose from. */
export function useNodeIds(projectId: string): string[] {
  const api = useApi();
  const { data = [] } = useQuery({
    queryKey: ['node-ids', projectId],
    queryFn: async () => {
      const path = { projectId };
      const { nodes } = await bodyOf(api.GET('/v1/projects/{projectId}/pathway', { params: { path } }));
      return nodes.map(({ id }) => id);
    },
  });
  return data;
}

/** The names of the project's tools, to choose from. */
export function useToolNames(projectId: string): string[] {
  const api = useApi();
  const { data = [] } = useQuery({
    queryKey: ['tool-names', projectId],
    queryFn: async () => {
      const params = { path: { projectId }, query: { limit: '200' } };
      const { data: tools } = await bodyOf(api.GET('/v1/projects/{projectId}/tools', { params }));
      return [...new Set(tools.map(({ name }) => name))];
    },
  });
  return data;
}
