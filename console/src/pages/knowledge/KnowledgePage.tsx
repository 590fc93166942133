import { Grid, Group, Loader, Paper, Stack, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';

import { formatNumber } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageTitle } from '../../layout/PageTitle.tsx';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';
import { CreateKnowledgebase } from './CreateKnowledgebase.tsx';
import { DocumentList } from './DocumentList.tsx';
import { type Knowledgebase, useKnowledgebase } from './knowledge.ts';
import { TryQuery } from './TryQuery.tsx';
import { UploadDocuments } from './UploadDocuments.tsx';

const texts = textsIn({
  en: {
    title: 'Knowledge',
    loading: 'The knowledge base is loading',
    none: 'This project has no knowledge base yet.',
    chunks: (size: string, overlap: string) =>
      `Chunks of up to ${size} characters, ${overlap} of them shared`,
  },
  'zh-TW': {
    title: '知識庫',
    loading: '正在載入知識庫',
    none: '此專案尚未建立知識庫。',
    chunks: (size: string, overlap: string) => `每個片段最多 ${size} 字元，重疊 ${overlap} 字元`,
  },
});

/** The documents that the agent answers from. */
export function KnowledgePage() {
  const { projectId } = useParams({ from: '/projects/$projectId/knowledge' });
  const { data: knowledgebase, error } = useKnowledgebase(projectId);
  const mayWrite = useScope('write');
  if (error && knowledgebase === undefined) return <ErrorPage error={error} />;
  return (
    <Stack maw={1200}>
      <PageTitle>{texts.title}</PageTitle>
      {knowledgebase === undefined && <Loader aria-label={texts.loading} />}
      {knowledgebase === null && (mayWrite ? <CreateKnowledgebase projectId={projectId} /> : texts.none)}
      {knowledgebase && <Content projectId={projectId} knowledgebase={knowledgebase} mayWrite={mayWrite} />}
    </Stack>
  );
}

interface ContentProps {
  projectId: string;
  knowledgebase: Knowledgebase;
  mayWrite: boolean;
}

function Content({ projectId, knowledgebase, mayWrite }: ContentProps) {
  const { id, name, embeddingModelName, chunkSize, chunkOverlap } = knowledgebase;
  return (
    <>
      <Group gap="xs" c="dimmed">
        <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        <Text size="sm">{embeddingModelName}</Text>
        <Text size="sm">{texts.chunks(formatNumber(chunkSize), formatNumber(chunkOverlap))}</Text>
      </Group>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Stack>
            {mayWrite && <UploadDocuments projectId={projectId} knowledgebaseId={id} />}
            <DocumentList projectId={projectId} knowledgebaseId={id} mayWrite={mayWrite} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <Paper withBorder p="md" radius="md">
            <TryQuery projectId={projectId} knowledgebaseId={id} />
          </Paper>
        </Grid.Col>
      </Grid>
    </>
  );
}
