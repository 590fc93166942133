import { Button, NumberInput, Paper, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { FormError } from '../../components/FormError.tsx';
import { handleSubmit } from '../../components/handleSubmit.ts';
import { textsIn } from '../../texts.ts';
import type { Knowledgebase } from './knowledge.ts';

const MODELS = [
  'text-embedding-3-small',
  'text-embedding-3-large',
  'text-embedding-ada-002',
] as const satisfies readonly Knowledgebase['embeddingModelName'][];

const texts = textsIn({
  en: {
    intro:
      'A knowledge base holds the documents that the agent looks things up in: price lists, opening hours, manuals. A project has one.',
    name: 'Name',
    model: 'Embedding model',
    modelHelp: 'Makes the vectors for the search by meaning. It cannot be changed later.',
    chunkSize: 'Chunk size',
    chunkSizeHelp: 'The most characters of one part of a document.',
    chunkOverlap: 'Overlap',
    chunkOverlapHelp: 'Characters that a part repeats from the one before it.',
    create: 'Create the knowledge base',
  },
  'zh-TW': {
    intro: '知識庫存放代理查詢所需的文件，例如價目表、營業時間與手冊。每個專案有一個知識庫。',
    name: '名稱',
    model: '嵌入模型',
    modelHelp: '產生語意搜尋所用的向量，之後無法變更。',
    chunkSize: '片段大小',
    chunkSizeHelp: '文件每個片段的最多字元數。',
    chunkOverlap: '重疊',
    chunkOverlapHelp: '每個片段與前一片段重複的字元數。',
    create: '建立知識庫',
  },
});

export function CreateKnowledgebase({ projectId }: { projectId: string }) {
  const api = useApi();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [embeddingModelName, setModel] = useState<(typeof MODELS)[number]>(MODELS[0]);
  const [chunkSize, setChunkSize] = useState<number | string>(500);
  const [chunkOverlap, setChunkOverlap] = useState<number | string>(50);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => {
      const body = {
        name: name.trim(),
        type: 'pgvector' as const,
        embeddingModelName,
        chunkSize: Number(chunkSize),
        chunkOverlap: Number(chunkOverlap),
      };
      return bodyOf(
        api.POST('/v1/projects/{projectId}/knowledgebases', { params: { path: { projectId } }, body }),
      );
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['knowledgebase', projectId] }),
  });
  return (
    <Paper withBorder p="lg" radius="md" maw={640} component="form" onSubmit={handleSubmit(() => mutate())}>
      <Stack>
        <Text>{texts.intro}</Text>
        <TextInput
          label={texts.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={128}
          required
        />
        <Select
          label={texts.model}
          description={texts.modelHelp}
          data={MODELS}
          value={embeddingModelName}
          onChange={(value) => value && setModel(value)}
          allowDeselect={false}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }} style={{ alignItems: 'end' }}>
          <NumberInput
            label={texts.chunkSize}
            description={texts.chunkSizeHelp}
            value={chunkSize}
            onChange={setChunkSize}
            min={50}
            max={8000}
            allowDecimal={false}
            required
          />
          <NumberInput
            label={texts.chunkOverlap}
            description={texts.chunkOverlapHelp}
            value={chunkOverlap}
            onChange={setChunkOverlap}
            min={0}
            max={Math.max(0, Number(chunkSize) - 1)}
            allowDecimal={false}
            required
          />
        </SimpleGrid>
        <FormError error={error} />
        <Button
          type="submit"
          loading={isPending}
          disabled={name.trim() === ''}
          style={{ alignSelf: 'start' }}
        >
          {texts.create}
        </Button>
      </Stack>
    </Paper>
  );
}
