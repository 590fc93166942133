import { queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import { type Api, ApiError, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import type { Stored } from './pathway/editorState.ts';
import { type Graph, hasCoveredNodes } from './pathway/graph.ts';

export type Agent = components['schemas']['Agent'];
export type Tool = components['schemas']['Tool'];
type PathwayBody = components['schemas']['PathwayInput'];

/** Tools that every project has. */
const BUILT_IN_TOOLS = [
  'end_call',
  'transfer_call',
  'send_dtmf',
  'query_knowledgebase',
  'set_variable',
  'schedule_callback',
  'opt_out',
];
/** Variables of every session. */
const SESSION_VARIABLES = [
  'language',
  'channel',
  'call.direction',
  'call.fromNumber',
  'call.toNumber',
  'call.callId',
  'call.trunkId',
];
const MAX_TOOLS = '200';

export const agentQuery = (api: Api, projectId: string) =>
  queryOptions({
    queryKey: ['agent', projectId],
    queryFn: () => bodyOf(api.GET('/v1/projects/{projectId}/agent', { params: { path: { projectId } } })),
  });

export const pathwayQuery = (api: Api, projectId: string) =>
  queryOptions({
    queryKey: ['pathway', projectId],
    queryFn: async (): Promise<Stored> => {
      const { version, graph } = storedOf(
        await bodyOf(api.GET('/v1/projects/{projectId}/pathway', { params: { path: { projectId } } })),
      );
      return { version, graph: hasCoveredNodes(graph) ? await arranged(graph) : graph };
    },
  });

export const toolsQuery = (api: Api, projectId: string) =>
  queryOptions({
    queryKey: ['tools', projectId],
    queryFn: async () =>
      (
        await bodyOf(
          api.GET('/v1/projects/{projectId}/tools', {
            params: { path: { projectId }, query: { limit: MAX_TOOLS } },
          }),
        )
      ).data,
  });

/**
 * Writes the whole pathway.
 *
 * @throws {ApiError} 412 when its version is another one than `version`.
 */
export async function putPathway(
  api: Api,
  projectId: string,
  graph: Graph,
  version: number,
): Promise<Stored> {
  return storedOf(
    await bodyOf(
      api.PUT('/v1/projects/{projectId}/pathway', {
        params: { path: { projectId }, header: { 'if-match': `"${version}"` } },
        body: graph as PathwayBody,
      }),
    ),
  );
}

/** Arranges the nodes in layers from the start on. What does it is loaded when it is needed. */
export async function arranged(graph: Graph): Promise<Graph> {
  const layout = await import('./pathway/layout.ts');
  return layout.arranged(graph);
}

/** What the API says about each field of a request, by JSON pointer. */
export function errorsByPointer(error: unknown): ReadonlyMap<string, string> {
  const details = error instanceof ApiError ? error.details : [];
  return new Map(details.map(({ path = '', message }) => [path, message]));
}

/** What a node may name, for lists of choices and for templates. */
export function useKnownNames(api: Api, projectId: string) {
  const { data: agent } = useQuery(agentQuery(api, projectId));
  const { data: tools } = useQuery(toolsQuery(api, projectId));
  return useMemo(() => {
    const own = (agent?.variableConfigs ?? []).map(({ name }) => name);
    const mapped = (tools ?? []).flatMap(({ resultMapping = [] }) =>
      resultMapping.map(({ variable }) => variable),
    );
    return {
      variables: [...new Set([...own, ...mapped, ...SESSION_VARIABLES])],
      tools: [
        ...(tools ?? []).map(({ id, name }) => ({ value: id, label: name })),
        ...BUILT_IN_TOOLS.map((name) => ({ value: name, label: name })),
      ],
    };
  }, [agent, tools]);
}

function storedOf({ version, nodes, edges }: { version: number } & Graph): Stored {
  return { version, graph: { nodes, edges } };
}
