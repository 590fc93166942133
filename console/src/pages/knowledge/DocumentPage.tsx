import { Group, Loader, Paper, Stack, Switch, Text } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { FormError } from '../../components/FormError.tsx';
import { formatNumber } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageLink } from '../../layout/links.tsx';
import { PageNumbers } from '../../layout/PageNumbers.tsx';
import { PageTitle } from '../../layout/PageTitle.tsx';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';
import { type Chunk, useDocuments, useKnowledgebase } from './knowledge.ts';

const PAGE_SIZE = 20;

const texts = textsIn({
  en: {
    back: 'Knowledge',
    intro: 'The parts that the agent can find. A part that is off is left out of every search.',
    loading: 'The chunks are loading',
    gone: 'This document does not exist any more.',
    none: 'This document has no chunks yet.',
    chunk: (number: string) => `Chunk ${number}`,
    characters: (count: string) => `${count} characters`,
    searchable: 'Searchable',
    pages: 'Pages of chunks',
  },
  'zh-TW': {
    back: '知識庫',
    intro: '代理可找到的片段。關閉的片段不會出現在任何搜尋中。',
    loading: '正在載入片段',
    gone: '此文件已不存在。',
    none: '此文件尚無片段。',
    chunk: (number: string) => `片段 ${number}`,
    characters: (count: string) => `${count} 字元`,
    searchable: '可搜尋',
    pages: '片段分頁',
  },
});

/** A document's chunks, in its order. */
export function DocumentPage() {
  const { projectId } = useParams({ from: '/projects/$projectId/knowledge/$datasetId' });
  const { data: knowledgebase, error } = useKnowledgebase(projectId);
  if (error && knowledgebase === undefined) return <ErrorPage error={error} />;
  return (
    <Stack maw={900}>
      <PageLink to="/projects/$projectId/knowledge" params={{ projectId }} size="sm">
        ← {texts.back}
      </PageLink>
      {knowledgebase === undefined && <Loader aria-label={texts.loading} />}
      {knowledgebase === null && texts.gone}
      {knowledgebase && <Chunks knowledgebaseId={knowledgebase.id} />}
    </Stack>
  );
}

function Chunks({ knowledgebaseId }: { knowledgebaseId: string }) {
  const { projectId, datasetId } = useParams({ from: '/projects/$projectId/knowledge/$datasetId' });
  const api = useApi();
  const [page, setPage] = useState(1);
  const { data: documents, error: documentsError } = useDocuments(projectId, knowledgebaseId);
  const document = documents?.find(({ id }) => id === datasetId);
  const chunkCount = document?.chunkCount ?? 0;
  const queryKey = ['chunks', datasetId, page];
  const { data: chunks, error } = useQuery({
    queryKey,
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/knowledgebases/{knowledgebaseId}/datasets/{datasetId}/chunks', {
          params: {
            path: { projectId, knowledgebaseId, datasetId },
            query: { limit: `${PAGE_SIZE}`, offset: `${(page - 1) * PAGE_SIZE}` },
          },
        }),
      ),
    enabled: chunkCount > 0,
    placeholderData: keepPreviousData,
  });
  const problem = documents ? error : documentsError;
  if (problem && !(documents && chunks)) return <ErrorPage error={problem} />;
  if (!documents) return <Loader aria-label={texts.loading} />;
  if (!document) return <Text>{texts.gone}</Text>;
  return (
    <>
      <PageTitle>{document.name}</PageTitle>
      <Text c="dimmed">{chunkCount === 0 ? texts.none : texts.intro}</Text>
      {chunkCount > 0 && chunks === undefined && <Loader aria-label={texts.loading} />}
      {chunks?.map((chunk, place) => (
        <ChunkCard
          key={chunk.id}
          chunk={chunk}
          number={(page - 1) * PAGE_SIZE + place + 1}
          path={{ projectId, knowledgebaseId, datasetId }}
          queryKey={queryKey}
        />
      ))}
      <PageNumbers
        label={texts.pages}
        total={chunkCount}
        pageSize={PAGE_SIZE}
        page={page}
        onChange={setPage}
      />
    </>
  );
}

interface ChunkProps {
  chunk: Chunk;
  /** In the document, from 1. */
  number: number;
  path: { projectId: string; knowledgebaseId: string; datasetId: string };
  queryKey: readonly unknown[];
}

function ChunkCard({ chunk, number, path, queryKey }: ChunkProps) {
  const { id: chunkId, content, contentLength, isEnabled } = chunk;
  const api = useApi();
  const queries = useQueryClient();
  const mayWrite = useScope('write');
  const { mutate, isPending, error } = useMutation({
    mutationFn: (wanted: boolean) =>
      bodyOf(
        api.PATCH(
          '/v1/projects/{projectId}/knowledgebases/{knowledgebaseId}/datasets/{datasetId}/chunks/{chunkId}',
          { params: { path: { ...path, chunkId } }, body: { isEnabled: wanted } },
        ),
      ),
    onSuccess: (changed) =>
      queries.setQueryData<Chunk[]>(queryKey, (all) =>
        all?.map((one) => (one.id === changed.id ? changed : one)),
      ),
  });
  const name = texts.chunk(formatNumber(number));
  return (
    <Paper withBorder p="sm" radius="md" component="article" aria-label={name}>
      <Group justify="space-between" mb="xs">
        <Group gap="xs">
          <Text size="sm" fw={600}>
            {name}
          </Text>
          <Text size="xs" c="dimmed">
            {texts.characters(formatNumber(contentLength))}
          </Text>
        </Group>
        <Switch
          label={texts.searchable}
          labelPosition="left"
          checked={isEnabled}
          disabled={!mayWrite || isPending}
          onChange={(event) => mutate(event.currentTarget.checked)}
        />
      </Group>
      <Text
        size="sm"
        {...(!isEnabled && { c: 'dimmed', td: 'line-through' })}
        style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
      >
        {content}
      </Text>
      <FormError error={error} />
    </Paper>
  );
}
