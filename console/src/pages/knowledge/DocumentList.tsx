import { Badge, Button, Group, Loader, Paper, Progress, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { ConfirmButton } from '../../components/ConfirmButton.tsx';
import { formatBytes, formatDateTime, formatNumber, formatTime } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageLink } from '../../layout/links.tsx';
import { textsIn } from '../../texts.ts';
import {
  type Document,
  documentErrorText,
  isInProgress,
  useDeleteDocument,
  useDocuments,
} from './knowledge.ts';

const texts = textsIn({
  en: {
    title: 'Documents',
    loading: 'The documents are loading',
    none: 'No document yet. Upload one, and the agent answers from it as soon as it is ready.',
    status: { pending: 'Queued', processing: 'Processing', ready: 'Ready', failed: 'Failed' },
    chunks: (count: number) => (count === 1 ? '1 chunk' : `${formatNumber(count)} chunks`),
    progress: (name: string) => `Processing of ${name}`,
    embedded: (done: string, all: string) => `${done} of ${all} chunks are searchable`,
    retryAt: (time: string) => `It is tried again at ${time}.`,
    retry: 'Try again',
    retryNow: 'Try again now',
    delete: 'Delete',
    deleteOne: (name: string) => `Delete ${name}`,
    question: (name: string) => `“${name}” and its chunks are deleted. The agent no longer answers from it.`,
  },
  'zh-TW': {
    title: '文件',
    loading: '正在載入文件',
    none: '尚無文件。上傳後，一旦處理完成，代理即可依據它回答。',
    status: { pending: '排隊中', processing: '處理中', ready: '已就緒', failed: '失敗' },
    chunks: (count: number) => `${formatNumber(count)} 個片段`,
    progress: (name: string) => `${name} 的處理進度`,
    embedded: (done: string, all: string) => `${all} 個片段中已有 ${done} 個可搜尋`,
    retryAt: (time: string) => `將於 ${time} 再試一次。`,
    retry: '再試一次',
    retryNow: '立即再試',
    delete: '刪除',
    deleteOne: (name: string) => `刪除 ${name}`,
    question: (name: string) => `將刪除「${name}」及其所有片段，代理不再依據它回答。`,
  },
});

const COLORS = { pending: 'gray', processing: 'blue', ready: 'teal', failed: 'red' } as const;

interface DocumentsProps {
  projectId: string;
  knowledgebaseId: string;
  mayWrite: boolean;
}

export function DocumentList({ projectId, knowledgebaseId, mayWrite }: DocumentsProps) {
  const { data: documents, error } = useDocuments(projectId, knowledgebaseId);
  if (error && !documents) return <ErrorPage error={error} />;
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {texts.title}
      </Title>
      {documents === undefined && <Loader aria-label={texts.loading} />}
      {documents?.length === 0 && <Text c="dimmed">{texts.none}</Text>}
      {documents?.map((document) => (
        <DocumentCard
          key={document.id}
          document={document}
          projectId={projectId}
          knowledgebaseId={knowledgebaseId}
          mayWrite={mayWrite}
        />
      ))}
    </Stack>
  );
}

function DocumentCard({
  document,
  projectId,
  knowledgebaseId,
  mayWrite,
}: DocumentsProps & { document: Document }) {
  const { id, name, bytes, status, chunkCount, createdAt } = document;
  const remove = useDeleteDocument(projectId, knowledgebaseId, id);
  return (
    <Paper withBorder p="sm" radius="md" component="article" aria-label={name}>
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          {chunkCount > 0 ? (
            <PageLink
              to="/projects/$projectId/knowledge/$datasetId"
              params={{ projectId, datasetId: id }}
              fw={600}
              style={{ overflowWrap: 'anywhere' }}
            >
              {name}
            </PageLink>
          ) : (
            <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
              {name}
            </Text>
          )}
          <Badge color={COLORS[status]} variant="outline" style={{ flexShrink: 0 }}>
            {texts.status[status]}
          </Badge>
        </Group>
        <DocumentProgress document={document} />
        <Group justify="space-between" gap="xs">
          <Group gap="xs" c="dimmed">
            <Text size="xs">{formatBytes(bytes)}</Text>
            {chunkCount > 0 && <Text size="xs">{texts.chunks(chunkCount)}</Text>}
            <Text size="xs">{formatDateTime(createdAt)}</Text>
          </Group>
          {mayWrite && (
            <Group gap="xs" ml="auto">
              <RetryButton document={document} projectId={projectId} knowledgebaseId={knowledgebaseId} />
              <ConfirmButton
                aria-label={texts.deleteOne(name)}
                question={texts.question(name)}
                size="compact-sm"
                action={remove}
              >
                {texts.delete}
              </ConfirmButton>
            </Group>
          )}
        </Group>
      </Stack>
    </Paper>
  );
}

/** How far it is, and in words why it goes no further. */
function DocumentProgress({ document }: { document: Document }) {
  const { name, error, nextAttemptAt, chunkCount, embeddedCount } = document;
  return (
    <>
      {isInProgress(document) && chunkCount > 0 && (
        <Stack gap={4}>
          <Progress value={(embeddedCount / chunkCount) * 100} size="sm" aria-label={texts.progress(name)} />
          <Text size="xs" c="dimmed">
            {texts.embedded(formatNumber(embeddedCount), formatNumber(chunkCount))}
          </Text>
        </Stack>
      )}
      {error !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" style={{ overflowWrap: 'anywhere' }}>
          {documentErrorText(error)} {nextAttemptAt !== undefined && texts.retryAt(formatTime(nextAttemptAt))}
        </Text>
      )}
    </>
  );
}

function RetryButton({
  document,
  projectId,
  knowledgebaseId,
}: Omit<DocumentsProps, 'mayWrite'> & { document: Document }) {
  const api = useApi();
  const queries = useQueryClient();
  const { id: datasetId, status, nextAttemptAt } = document;
  const { mutate, isPending } = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v1/projects/{projectId}/knowledgebases/{knowledgebaseId}/datasets/{datasetId}/retry', {
          params: { path: { projectId, knowledgebaseId, datasetId } },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ['documents', projectId] }),
  });
  if (status !== 'failed' && nextAttemptAt === undefined) return null;
  return (
    <Button variant="default" size="compact-sm" onClick={() => mutate()} loading={isPending}>
      {status === 'failed' ? texts.retry : texts.retryNow}
    </Button>
  );
}
