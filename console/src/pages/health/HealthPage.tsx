import { Badge, Group, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { type Api, bodyOf } from '../../api/client.ts';
import { codeText } from '../../codes/codeText.ts';
import { DataTable } from '../../components/DataTable.tsx';
import { Plot } from '../../components/Plot.tsx';
import { Section } from '../../components/Section.tsx';
import { formatDateTime, formatLatency, formatNumber } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageTitle } from '../../layout/PageTitle.tsx';
import { COLON, textsIn } from '../../texts.ts';

const REFRESH_MS = 15_000;
const SHORT_ID_LENGTH = 8;

const texts = textsIn({
  en: {
    title: 'Health',
    dependencies: 'Services and providers',
    states: { up: 'up', down: 'down', degraded: 'degraded' },
    services: { database: 'Database', redis: 'Redis', sip: 'SIP' },
    builtIn: { local: 'Built-in models', rehearsal: 'Rule-based chat model' },
    dependenciesOf: 'As the node that answers this page sees them.',
    nodes: 'Nodes',
    node: 'Node',
    roles: 'Roles',
    since: 'Running since',
    version: 'Version',
    calls: 'Calls',
    sessions: 'Voice sessions',
    state: 'State',
    ready: 'Ready',
    draining: 'Draining',
    late: (parts: string) => `Late: ${parts}`,
    noSamples: 'The first figures of a node come within seconds.',
    noNodes: 'The first report of a node comes within seconds.',
    queue: 'Waiting jobs',
    latency: 'Response time of turns',
    delay: 'Delay of the node',
    failures: 'Failures',
    providerErrors: 'Provider errors',
    failedCalls: 'Failed calls',
    failedWebhooks: 'Failed webhooks',
    serverErrors: 'HTTP 5xx',
  },
  'zh-TW': {
    title: '健康狀態',
    dependencies: '服務與供應商',
    states: { up: '正常', down: '中斷', degraded: '異常' },
    services: { database: '資料庫', redis: 'Redis', sip: 'SIP' },
    builtIn: { local: '內建模型', rehearsal: '依規則回答的對話模型' },
    dependenciesOf: '由回應此頁面的節點所見。',
    nodes: '節點',
    node: '節點',
    roles: '角色',
    since: '啟動時間',
    version: '版本',
    calls: '通話',
    sessions: '語音工作階段',
    state: '狀態',
    ready: '就緒',
    draining: '停止接收中',
    late: (parts: string) => `延遲：${parts}`,
    noSamples: '節點的第一份數據幾秒內就會出現。',
    noNodes: '節點的第一份報告幾秒內就會出現。',
    queue: '等待中的工作',
    latency: '輪次的回應時間',
    delay: '節點的延遲',
    failures: '失敗',
    providerErrors: '供應商錯誤',
    failedCalls: '失敗的通話',
    failedWebhooks: '失敗的 webhook',
    serverErrors: 'HTTP 5xx',
  },
});

const fetchNodes = (api: Api) => bodyOf(api.GET('/v1/nodes'));
type Node = Awaited<ReturnType<typeof fetchNodes>>['data'][number];

/** What the installation does now, for its operator. */
export function HealthPage() {
  const api = useApi();
  const nodes = useQuery({
    queryKey: ['nodes'],
    queryFn: () => fetchNodes(api),
    refetchInterval: REFRESH_MS,
  });
  if (nodes.error && !nodes.data) return <ErrorPage error={nodes.error} />;
  return (
    <Stack>
      <PageTitle>{texts.title}</PageTitle>
      <Dependencies />
      <Section title={texts.nodes}>
        {nodes.data?.data.length === 0 && <Text>{texts.noNodes}</Text>}
        {nodes.data !== undefined && nodes.data.data.length > 0 && <NodeTable nodes={nodes.data.data} />}
      </Section>
      {nodes.data?.data.map((node) => (
        <NodePlots key={node.nodeId} node={node} />
      ))}
    </Stack>
  );
}

function Dependencies() {
  const { data } = useQuery({ queryKey: ['readyz'], queryFn: readiness, refetchInterval: REFRESH_MS });
  if (!data) return null;
  const providers = Object.entries(data.providers).map(([name, { status, reason }]) => ({
    name: name in texts.builtIn ? texts.builtIn[name as keyof typeof texts.builtIn] : name,
    isUp: status === 'up',
    text: reason === undefined ? texts.states[status] : texts.states[status] + COLON + reason,
  }));
  const services = Object.entries(data.dependencies).map(([name, status]) => ({
    name: name in texts.services ? texts.services[name as keyof typeof texts.services] : name,
    isUp: status === 'up',
    text: texts.states[status],
  }));
  return (
    <Section title={texts.dependencies} description={texts.dependenciesOf}>
      <Group gap="xs">
        {[...services, ...providers].map(({ name, isUp, text }) => (
          <Badge key={name} color={isUp ? 'green' : 'red'}>
            {name + COLON + text}
          </Badge>
        ))}
      </Group>
    </Section>
  );
}

interface Readiness {
  readonly dependencies: Readonly<Record<string, 'up' | 'down'>>;
  readonly providers: Readonly<
    Record<string, { readonly status: 'up' | 'degraded'; readonly reason?: string }>
  >;
}

/** A node that is not ready answers 503 with the same body. */
async function readiness(): Promise<Readiness> {
  const response = await fetch('/readyz');
  return (await response.json()) as Readiness;
}

function NodeTable({ nodes }: { nodes: readonly Node[] }) {
  return (
    <DataTable
      style={{ whiteSpace: 'nowrap' }}
      headings={[
        texts.node,
        texts.state,
        texts.roles,
        texts.calls,
        texts.sessions,
        texts.version,
        texts.since,
      ]}
      minWidth={600}
    >
      {nodes.map((node) => (
        <Table.Tr key={node.nodeId}>
          <Table.Td title={node.nodeId}>{shortId(node)}</Table.Td>
          <Table.Td>{stateOf(node)}</Table.Td>
          <Table.Td>{node.roles.map((role) => codeText('nodeRole', role)).join(', ')}</Table.Td>
          <Table.Td>{formatNumber(node.samples.at(-1)?.calls ?? 0)}</Table.Td>
          <Table.Td>{formatNumber(node.samples.at(-1)?.sessions ?? 0)}</Table.Td>
          <Table.Td>{node.version}</Table.Td>
          <Table.Td>{formatDateTime(node.startedAt)}</Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}

function stateOf({ isDraining, overloaded }: Node): string {
  if (isDraining) return texts.draining;
  return overloaded.length > 0
    ? texts.late(overloaded.map((part) => codeText('latePart', part)).join(', '))
    : texts.ready;
}

/** As an operator finds it in the logs; ids are long. */
const shortId = ({ nodeId }: Node) => nodeId.slice(0, SHORT_ID_LENGTH);

function NodePlots({ node }: { node: Node }) {
  const { samples } = node;
  const plots = useMemo(() => plotsOf(samples), [samples]);
  const times = useMemo(() => samples.map(({ at }) => Date.parse(at) / 1000), [samples]);
  return (
    <Section title={`${texts.node} ${shortId(node)}`}>
      {samples.length === 0 && <Text>{texts.noSamples}</Text>}
      <SimpleGrid cols={{ base: 1, md: 2 }} hidden={samples.length === 0}>
        {plots.map(({ title, lines, format }) => (
          <Stack key={title} gap={4}>
            <Text size="sm" fw={600}>
              {title}
            </Text>
            <Plot label={shortId(node) + COLON + title} times={times} lines={lines} format={format} />
          </Stack>
        ))}
      </SimpleGrid>
    </Section>
  );
}

function plotsOf(samples: Node['samples']) {
  const line = (label: string, read: (sample: Node['samples'][number]) => number | null) => ({
    label,
    values: samples.map(read),
  });
  return [
    {
      title: texts.calls,
      lines: [line(texts.calls, ({ calls }) => calls), line(texts.queue, ({ queuedJobs }) => queuedJobs)],
      format: formatNumber,
    },
    {
      title: texts.latency,
      lines: [
        line('p50', ({ turnLatencyMs }) => turnLatencyMs?.p50 ?? null),
        line('p95', ({ turnLatencyMs }) => turnLatencyMs?.p95 ?? null),
      ],
      format: formatLatency,
    },
    { title: texts.delay, lines: [line(texts.delay, ({ delayMs }) => delayMs)], format: formatLatency },
    {
      title: texts.failures,
      lines: [
        line(texts.providerErrors, ({ providerErrors }) => providerErrors),
        line(texts.failedCalls, ({ failedCalls }) => failedCalls),
        line(texts.failedWebhooks, ({ failedWebhooks }) => failedWebhooks),
        line(texts.serverErrors, ({ serverErrors }) => serverErrors),
      ],
      format: formatNumber,
    },
  ];
}
