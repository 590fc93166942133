import { Badge, Box, Button, Group, Paper, Select, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { FormError } from '../../../components/FormError.tsx';
import { formatDateTime } from '../../../formats.ts';
import { ErrorPage } from '../../../layout/ErrorPage.tsx';
import { textsIn } from '../../../texts.ts';
import { pathwayQuery } from '../agentQueries.ts';
import { PathwayView } from '../canvas/PathwayCanvas.tsx';
import { MarkIcon } from '../canvas/PathwayNodeCard.tsx';
import { type Change, differences } from '../pathway/differences.ts';
import { type Graph, hasCoveredNodes, partOf } from '../pathway/graph.ts';
import { arranged } from '../pathway/layout.ts';
import { ChangeTable, partName } from './ChangeTable.tsx';
import classes from './versions.module.css';

const MAX_VERSIONS = '100';

const texts = textsIn({
  en: {
    version: 'Version',
    before: 'Compare with',
    line: (version: number, at: string, by: string) => `${version} · ${at} · ${by}`,
    operator: 'operator',
    same: 'Both versions are the same.',
    changes: (added: number, changed: number, removed: number) =>
      `${added} added, ${changed} changed, ${removed} removed`,
    difference: 'Difference',
    restore: 'Restore this version',
    restored: (version: number) => `from ${version}`,
    unsaved: 'Save or undo the changes of the pathway first.',
    current: 'current',
  },
  'zh-TW': {
    version: '版本',
    before: '比較對象',
    line: (version: number, at: string, by: string) => `${version} · ${at} · ${by}`,
    operator: '管理者',
    same: '兩個版本相同。',
    changes: (added: number, changed: number, removed: number) =>
      `新增 ${added}、變更 ${changed}、移除 ${removed}`,
    difference: '差異',
    restore: '還原此版本',
    restored: (version: number) => `還原自 ${version}`,
    unsaved: '請先儲存或復原路徑的更改。',
    current: '目前',
  },
});

/** Versions of the pathway: what has changed between two, and the way back. */
export function VersionsTab({
  projectId,
  current,
  hasChanges,
  isReadOnly,
}: {
  projectId: string;
  /** The newest version. */
  current: number;
  /** Edits that restoring would lose. */
  hasChanges: boolean;
  isReadOnly: boolean;
}) {
  const api = useApi();
  const [version, setVersion] = useState(current);
  const [before, setBefore] = useState(Math.max(1, current - 1));
  const path = { params: { path: { projectId }, query: { limit: MAX_VERSIONS } } };
  const { data: versions, error } = useQuery({
    queryKey: ['versions', projectId],
    queryFn: () => bodyOf(api.GET('/v1/projects/{projectId}/pathway/versions', path)),
  });
  const after = useVersion(projectId, version);
  const older = useVersion(projectId, before);
  if (error && !versions) return <ErrorPage error={error} />;
  const data = (versions?.data ?? []).map((one) => ({
    value: String(one.version),
    label: [
      texts.line(one.version, formatDateTime(one.createdAt), one.author.hint ?? texts.operator),
      ...(one.restoredFrom === null ? [] : [texts.restored(one.restoredFrom)]),
      ...(one.version === current ? [texts.current] : []),
    ].join(' · '),
  }));
  const choose = (label: string, value: number, change: (version: number) => void) => (
    <Select
      label={label}
      data={data}
      value={String(value)}
      allowDeselect={false}
      onChange={(next) => next !== null && change(Number(next))}
      style={{ flex: '1 1 260px' }}
    />
  );
  return (
    <Stack>
      <Group align="flex-end">
        {choose(texts.version, version, setVersion)}
        {choose(texts.before, before, setBefore)}
        {!isReadOnly && version !== current && (
          <RestoreButton {...{ projectId, version, current, hasChanges }} onRestored={setVersion} />
        )}
      </Group>
      {after && older && <Difference before={older} after={after} />}
    </Stack>
  );
}

function RestoreButton({
  projectId,
  version,
  current,
  hasChanges,
  onRestored,
}: {
  projectId: string;
  version: number;
  current: number;
  hasChanges: boolean;
  onRestored: (version: number) => void;
}) {
  const api = useApi();
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v1/projects/{projectId}/pathway/versions/{version}/restore', {
          params: { path: { projectId, version: String(version) }, header: { 'if-match': `"${current}"` } },
        }),
      ),
    onSuccess: async (restored) => {
      await queries.invalidateQueries({ queryKey: pathwayQuery(api, projectId).queryKey });
      await queries.invalidateQueries({ queryKey: ['versions', projectId] });
      onRestored(restored.version);
    },
  });
  return (
    <div>
      <Button onClick={() => mutate()} loading={isPending} disabled={hasChanges}>
        {texts.restore}
      </Button>
      {hasChanges && <Text size="xs">{texts.unsaved}</Text>}
      <FormError error={error} />
    </div>
  );
}

/** On the canvas, and field by field. */
function Difference({ before, after }: { before: Graph; after: Graph }) {
  const changes = useMemo(() => differences(before, after), [before, after]);
  const marks = useMemo(() => new Map(changes.map(({ id, kind }) => [id, kind])), [changes]);
  const both = useMemo(() => withRemoved(before, after), [before, after]);
  const count = (wanted: Change['kind']) => changes.filter(({ kind }) => kind === wanted).length;
  return (
    <Stack>
      <Group gap="sm">
        <Title order={2} size="h4">
          {texts.difference}
        </Title>
        <Badge variant="light" tt="none">
          {changes.length === 0
            ? texts.same
            : texts.changes(count('added'), count('changed'), count('removed'))}
        </Badge>
      </Group>
      <Box className={classes.canvas ?? ''}>
        <PathwayView graph={both} marks={marks} />
      </Box>
      {changes.map(({ id, kind, before: from, after: to, fields }) => {
        const part = to ?? from;
        return (
          <Paper key={id} withBorder p="sm">
            <Group gap="xs" mb={fields.length > 0 ? 'xs' : 0} wrap="nowrap">
              <MarkIcon mark={kind} />
              <Text size="sm" fw={600}>
                {part && partName(part, both.nodes)}
              </Text>
            </Group>
            {fields.length > 0 && <ChangeTable fields={fields} />}
          </Paper>
        );
      })}
    </Stack>
  );
}

function useVersion(projectId: string, version: number): Graph | undefined {
  const api = useApi();
  const { data } = useQuery({
    queryKey: ['version', projectId, version],
    queryFn: async (): Promise<Graph> => {
      const path = { projectId, version: String(version) };
      const { nodes, edges } = await bodyOf(
        api.GET('/v1/projects/{projectId}/pathway/versions/{version}', { params: { path } }),
      );
      return { nodes, edges };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data;
}

/** The graph with what was removed from it. */
function withRemoved(before: Graph, after: Graph): Graph {
  const nodes = [...after.nodes, ...before.nodes.filter(({ id }) => !partOf(after, id))];
  const edges = [...after.edges, ...before.edges.filter(({ id }) => !partOf(after, id))];
  const both = { nodes, edges };
  return hasCoveredNodes(both) ? arranged(both) : both;
}
