import { Box, Loader, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { DataTable } from '../../components/DataTable.tsx';
import { Section } from '../../components/Section.tsx';
import { formatNumber, formatPercent, formatTook } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageLink } from '../../layout/links.tsx';
import { textsIn } from '../../texts.ts';
import { pathwayQuery } from '../agent/agentQueries.ts';
import { PathwayView } from '../agent/canvas/PathwayCanvas.tsx';
import { type Graph, titleOf } from '../agent/pathway/graph.ts';
import type { Funnel } from './insightData.ts';
import { filtersOf, type InsightSearch, spanOf } from './insightSearch.ts';
import classes from './insights.module.css';
import { sessionsEndedAt } from './sessionsOf.ts';

const texts = textsIn({
  en: {
    title: 'The way through the pathway',
    about:
      'How often each node was entered, how many conversations ended there, and which edges were taken. Where many end is where the agent loses them, or where it is done. Whole days in UTC.',
    node: 'Node',
    entered: 'Entered',
    ended: 'Ended here',
    sessions: (ended: string, title: string) => `${ended}: conversations that ended at ${title}`,
    stay: 'Median stay',
    taken: 'Taken edges',
    edge: (title: string, taken: string) => `${title} ${taken}`,
    figures: (entered: string, ended: string) => `${entered} entered · ${ended} ended`,
    gone: 'deleted since',
    uncounted: 'The funnel is not counted by the node of the end, nor by the label. Remove these filters.',
    none: 'No ended conversation in this time went through the pathway.',
    talk: 'Talk to the agent',
    noneHelp: 'Each node then shows how many came, and how many ended there.',
  },
  'zh-TW': {
    title: '經過路徑的情形',
    about:
      '每個節點被進入幾次、多少對話在此結束、走了哪些連線。許多對話結束之處，可能是代理失去對方的地方，也可能是完成之處。以 UTC 整日計算。',
    node: '節點',
    entered: '進入',
    ended: '在此結束',
    sessions: (ended: string, title: string) => `${ended}：在${title}結束的對話`,
    stay: '停留中位數',
    taken: '走過的連線',
    edge: (title: string, taken: string) => `${title} ${taken}`,
    figures: (entered: string, ended: string) => `進入 ${entered} · 結束 ${ended}`,
    gone: '已刪除',
    uncounted: '漏斗不依結束的節點或標籤計算，請移除這些篩選。',
    none: '這段時間沒有已結束的對話經過路徑。',
    talk: '與代理對話',
    noneHelp: '之後每個節點會顯示多少對話到達、多少在此結束。',
  },
});

/** The funnel on the canvas of the pathway as it is edited now, and as a table. */
export function FunnelView({ projectId, search }: { projectId: string; search: InsightSearch }) {
  const api = useApi();
  const { node, provider, ...filters } = filtersOf(search);
  const isCounted = node === undefined && provider === undefined;
  const query = { ...spanOf(search, Date.now()), ...filters };
  const { data: funnel, error } = useQuery({
    enabled: isCounted,
    queryKey: ['insights', projectId, 'funnel', query],
    queryFn: () =>
      bodyOf(api.GET('/v1/projects/{projectId}/insights/funnel', { params: { path: { projectId }, query } })),
  });
  const { data: pathway } = useQuery(pathwayQuery(api, projectId));
  if (!isCounted)
    return (
      <Section title={texts.title} description={texts.about}>
        <Text>{texts.uncounted}</Text>
      </Section>
    );
  if (error && !funnel) return <ErrorPage error={error} />;
  if (!funnel || !pathway) return <Loader aria-label={texts.title} />;
  return (
    <Section title={texts.title} description={texts.about}>
      {funnel.nodes.length === 0 ? (
        <Text>
          {texts.none}{' '}
          <PageLink to="/projects/$projectId/talk" params={{ projectId }} underline="always">
            {texts.talk}
          </PageLink>
          {'. '}
          {texts.noneHelp}
        </Text>
      ) : (
        <Drawn {...{ projectId, search, funnel }} graph={pathway.graph} />
      )}
    </Section>
  );
}

interface DrawnProps {
  readonly projectId: string;
  readonly search: InsightSearch;
  readonly funnel: Funnel;
  readonly graph: Graph;
}

function Drawn(props: DrawnProps) {
  const { funnel, graph } = props;
  const traffic = useMemo(() => trafficOf(funnel), [funnel]);
  return (
    <Stack>
      <Box className={classes.canvas ?? ''}>
        <PathwayView graph={graph} traffic={traffic} />
      </Box>
      <FunnelTable {...props} />
    </Stack>
  );
}

/** What the canvas writes at nodes and edges, by id, with the share of the most entered node. */
function trafficOf({ nodes }: Funnel) {
  const most = Math.max(1, ...nodes.map(({ entered }) => entered));
  const ofNodes = nodes.map(
    ({ nodeId, entered, ended }) =>
      [
        nodeId,
        { text: texts.figures(formatNumber(entered), formatNumber(ended)), share: entered / most },
      ] as const,
  );
  const taken = new Map<string, number>();
  for (const edge of nodes.flatMap(({ edges }) => edges)) {
    taken.set(edge.edgeId, (taken.get(edge.edgeId) ?? 0) + edge.taken);
  }
  const ofEdges = [...taken].map(
    ([edgeId, count]) => [edgeId, { text: formatNumber(count), share: count / most }] as const,
  );
  return new Map([...ofNodes, ...ofEdges]);
}

function FunnelTable({ projectId, search, funnel: { nodes }, graph }: DrawnProps) {
  const known = new Map(graph.nodes.map((node) => [node.id, titleOf(node)]));
  const titles = new Map(nodes.map(({ nodeId, title }) => [nodeId, known.get(nodeId) ?? title ?? nodeId]));
  const titleById = (id: string) => titles.get(id) ?? known.get(id) ?? id;
  return (
    <DataTable
      aria-label={texts.title}
      headings={[
        texts.node,
        { text: texts.entered, isEnd: true },
        { text: texts.ended, isEnd: true },
        { text: texts.stay, isEnd: true },
        texts.taken,
      ]}
      minWidth={480}
    >
      {nodes.map(({ nodeId, entered, ended, medianSeconds, edges }) => (
        <Table.Tr key={nodeId}>
          <Table.Th scope="row" fw={400}>
            {titleById(nodeId)}{' '}
            {!known.has(nodeId) && (
              <Text span size="xs" c="dimmed" ms="xs">
                {texts.gone}
              </Text>
            )}
          </Table.Th>
          <Table.Td ta="end">{formatNumber(entered)}</Table.Td>
          <Table.Td ta="end">
            {ended === 0 ? (
              formatNumber(ended)
            ) : (
              <PageLink
                to="/projects/$projectId/sessions"
                params={{ projectId }}
                search={sessionsEndedAt(search, nodeId)}
                inherit
                aria-label={texts.sessions(formatNumber(ended), titleById(nodeId))}
              >
                {formatNumber(ended)}
              </PageLink>
            )}{' '}
            <Text span size="xs" c="dimmed" ms="xs">
              {entered > 0 && formatPercent(ended / entered)}
            </Text>
          </Table.Td>
          <Table.Td ta="end">{medianSeconds !== null && formatTook(medianSeconds * 1000)}</Table.Td>
          <Table.Td>
            {edges.map(({ to, taken }) => texts.edge(`→ ${titleById(to)}`, formatNumber(taken))).join(', ')}
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}
