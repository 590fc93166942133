import { Badge, Group, Loader, Paper, Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { Section } from '../../components/Section.tsx';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { textsIn } from '../../texts.ts';
import { describeEdge } from '../agent/canvas/PathwayEdgeLine.tsx';
import { MarkIcon } from '../agent/canvas/PathwayNodeCard.tsx';
import { lookOf } from '../agent/nodeTypes.ts';
import type { ChangeKind } from '../agent/pathway/differences.ts';
import { type GraphEdge, type GraphNode, titleOf } from '../agent/pathway/graph.ts';
import { FieldChanges } from './FieldChanges.tsx';
import { type Diff, type FieldDiff, releasesQuery, releaseText } from './releaseData.ts';

const texts = textsIn({
  en: {
    title: (release: number, compared: number) => `What release ${release} changes in release ${compared}`,
    release: 'Release',
    compared: 'Compared with',
    agent: 'Settings of the agent',
    edge: 'Edge',
    same: 'Both releases say the same.',
    counts: (added: number, changed: number, removed: number) =>
      `${added} added, ${changed} changed, ${removed} removed`,
  },
  'zh-TW': {
    title: (release: number, compared: number) => `版本 ${release} 對版本 ${compared} 的更改`,
    release: '版本',
    compared: '比較對象',
    agent: '代理設定',
    edge: '連線',
    same: '兩個版本的內容相同。',
    counts: (added: number, changed: number, removed: number) =>
      `新增 ${added}、變更 ${changed}、移除 ${removed}`,
  },
});

/** How a part of the agent differs. */
interface PartDiff {
  readonly id: string;
  readonly kind: ChangeKind;
  readonly name: string;
  readonly fields: readonly FieldDiff[];
}

/** How a release differs from an older one, part by part. */
export function ReleaseDiff({
  projectId,
  release,
  compared,
}: {
  projectId: string;
  release: number;
  compared: number;
}) {
  const api = useApi();
  const navigate = useNavigate();
  const { data } = useInfiniteQuery(releasesQuery(api, projectId));
  const releases = data?.items ?? [];
  const newer = useRelease(projectId, release);
  const older = useRelease(projectId, compared);
  const { data: diff, error } = useQuery({
    queryKey: ['releases', projectId, 'diff', release, compared],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/releases/{release}/diff', {
          params: { path: { projectId, release: String(release) }, query: { with: String(compared) } },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const known = new Set([...releases.map((one) => one.release), release, compared]);
  const options = [...known]
    .toSorted((a, b) => b - a)
    .map((value) => ({ value: String(value), label: releaseText(value) }));
  const choose = (label: string, value: number, search: (next: number) => object) => (
    <Select
      label={label}
      data={options}
      value={String(value)}
      allowDeselect={false}
      onChange={(next) =>
        next !== null &&
        void navigate({
          to: '/projects/$projectId/releases',
          params: { projectId },
          search: { release, compared, ...search(Number(next)) },
          replace: true,
        })
      }
      flex="1 1 140px"
      maw={240}
    />
  );
  return (
    <Section title={texts.title(release, compared)}>
      <Group align="flex-end">
        {choose(texts.release, release, (next) => ({ release: next }))}
        {choose(texts.compared, compared, (next) => ({ compared: next }))}
      </Group>
      {error && <ErrorPage error={error} />}
      {!error && !diff && <Loader aria-label={texts.title(release, compared)} />}
      {diff && newer && older && (
        <Parts
          parts={partsOf(
            diff,
            [...older.pathway.nodes, ...newer.pathway.nodes],
            [...older.pathway.edges, ...newer.pathway.edges],
          )}
        />
      )}
    </Section>
  );
}

function Parts({ parts }: { parts: readonly PartDiff[] }) {
  const count = (wanted: ChangeKind) => parts.filter(({ kind }) => kind === wanted).length;
  return (
    <Stack gap="sm">
      <Badge variant="light" tt="none">
        {parts.length === 0 ? texts.same : texts.counts(count('added'), count('changed'), count('removed'))}
      </Badge>
      {parts.map(({ id, kind, name, fields }) => (
        <Paper key={id} withBorder p="sm">
          <Group gap="xs" mb={fields.length > 0 ? 'xs' : 0} wrap="nowrap">
            <MarkIcon mark={kind} />
            <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
              {name}
            </Text>
          </Group>
          <FieldChanges fields={fields} />
        </Paper>
      ))}
    </Stack>
  );
}

/** The settings first, then nodes, then edges. @param nodes - Of both, the newer last. */
function partsOf(diff: Diff, nodes: readonly GraphNode[], edges: readonly GraphEdge[]): PartDiff[] {
  const types = new Map(nodes.map((node) => [node.id, lookOf(node.type).name]));
  const titles = new Map(nodes.map((node) => [node.id, titleOf(node)]));
  const nodeName = (id: string) => [types.get(id), titles.get(id) ?? id].join(' · ');
  const byId = new Map(edges.map((edge) => [edge.id, edge]));
  const edgeName = (id: string) => {
    const edge = byId.get(id);
    return [texts.edge, edge ? describeEdge(edge, titles) : id].join(' · ');
  };
  const agent: PartDiff[] =
    diff.agent.length > 0 ? [{ id: 'agent', kind: 'changed', name: texts.agent, fields: diff.agent }] : [];
  const of = (changes: Diff['nodes'] | Diff['edges'], nameOf: (id: string) => string): PartDiff[] => [
    ...changes.added.map(({ id }) => ({ id, kind: 'added' as const, name: nameOf(id), fields: [] })),
    ...changes.changed.map(({ id, fields }) => ({ id, kind: 'changed' as const, name: nameOf(id), fields })),
    ...changes.removed.map(({ id }) => ({ id, kind: 'removed' as const, name: nameOf(id), fields: [] })),
  ];
  return [...agent, ...of(diff.nodes, nodeName), ...of(diff.edges, edgeName)];
}

function useRelease(projectId: string, release: number) {
  const api = useApi();
  const { data } = useQuery({
    queryKey: ['releases', projectId, 'whole', release],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/releases/{release}', {
          params: { path: { projectId, release: String(release) } },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data;
}
