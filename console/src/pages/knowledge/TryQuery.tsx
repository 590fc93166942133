import {
  Button,
  Group,
  Input,
  NumberInput,
  Paper,
  Progress,
  SegmentedControl,
  Slider,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { FormError } from '../../components/FormError.tsx';
import { handleSubmit } from '../../components/handleSubmit.ts';
import { PageLink } from '../../layout/links.tsx';
import { textsIn } from '../../texts.ts';

const DEFAULT_TOP_K = 5;
const DEFAULT_THRESHOLD = 0.3;

const texts = textsIn({
  en: {
    title: 'Try a query',
    intro: 'What the agent would find, with the similarity of each chunk.',
    question: 'Question',
    placeholder: 'When are you open on Sunday?',
    mode: 'Search',
    modes: { semantic: 'By meaning', hybrid: 'By meaning and words' },
    topK: 'Results at most',
    threshold: 'Least similarity',
    search: 'Search',
    none: 'Nothing is similar enough. Lower the least similarity, or ask in other words.',
    score: (score: string) => `Similarity ${score}`,
  },
  'zh-TW': {
    title: '試查詢',
    intro: '代理會找到的內容，以及每個片段的相似度。',
    question: '問題',
    placeholder: '星期日幾點營業？',
    mode: '搜尋方式',
    modes: { semantic: '依語意', hybrid: '依語意與字詞' },
    topK: '最多結果數',
    threshold: '最低相似度',
    search: '搜尋',
    none: '沒有足夠相似的內容。請降低最低相似度，或換個說法。',
    score: (score: string) => `相似度 ${score}`,
  },
});

/** What a search finds, as the agent would. */
export function TryQuery({ projectId, knowledgebaseId }: { projectId: string; knowledgebaseId: string }) {
  const api = useApi();
  const thresholdLabel = useId();
  const [q, setQuestion] = useState('');
  const [mode, setMode] = useState<'semantic' | 'hybrid'>('hybrid');
  const [topK, setTopK] = useState<number | string>(DEFAULT_TOP_K);
  // As long as it is not chosen, the search has none of its own, as the agent's turns have none.
  const [chosenThreshold, setThreshold] = useState<number>();
  const threshold = chosenThreshold ?? DEFAULT_THRESHOLD;
  const {
    mutate,
    data: found,
    isPending,
    error,
  } = useMutation({
    mutationFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/knowledgebases/{knowledgebaseId}/query', {
          params: {
            path: { projectId, knowledgebaseId },
            query: {
              q,
              mode,
              topK: `${topK}`,
              ...(chosenThreshold === undefined ? {} : { scoreThreshold: `${chosenThreshold}` }),
            },
          },
        }),
      ),
  });
  return (
    <Stack component="form" onSubmit={handleSubmit(() => mutate())} gap="sm">
      <Title order={2} size="h4">
        {texts.title}
      </Title>
      <Text size="sm" c="dimmed">
        {texts.intro}
      </Text>
      <TextInput
        label={texts.question}
        placeholder={texts.placeholder}
        value={q}
        onChange={(event) => setQuestion(event.currentTarget.value)}
        maxLength={2000}
        required
      />
      <SegmentedControl
        aria-label={texts.mode}
        data={(['semantic', 'hybrid'] as const).map((value) => ({ value, label: texts.modes[value] }))}
        value={mode}
        onChange={setMode}
      />
      <Group grow align="flex-start">
        <NumberInput
          label={texts.topK}
          value={topK}
          onChange={setTopK}
          min={1}
          max={50}
          allowDecimal={false}
        />
        <Stack gap={6}>
          <Input.Label component="div" id={thresholdLabel}>
            {texts.threshold}: {threshold.toFixed(2)}
          </Input.Label>
          <Slider
            thumbProps={{ 'aria-labelledby': thresholdLabel }}
            label={null}
            value={threshold}
            onChange={setThreshold}
            min={0}
            max={1}
            step={0.05}
          />
        </Stack>
      </Group>
      <Button type="submit" loading={isPending} disabled={q.trim() === ''} style={{ alignSelf: 'start' }}>
        {texts.search}
      </Button>
      <FormError error={error} />
      <Stack gap="sm" aria-live="polite">
        {found?.length === 0 && <Text size="sm">{texts.none}</Text>}
        {found?.map(({ id, content, score, datasetId, datasetName }) => (
          <Paper key={id} withBorder p="sm" radius="md">
            <Group justify="space-between" wrap="nowrap" mb={4}>
              <PageLink
                to="/projects/$projectId/knowledge/$datasetId"
                params={{ projectId, datasetId }}
                size="sm"
                style={{ overflowWrap: 'anywhere' }}
              >
                {datasetName}
              </PageLink>
              <Text size="sm" ff="monospace" fw={600}>
                {score.toFixed(3)}
              </Text>
            </Group>
            <Progress
              value={Math.max(0, score) * 100}
              size="xs"
              mb="xs"
              aria-label={texts.score(score.toFixed(3))}
            />
            <Text size="sm" lineClamp={8} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
              {content}
            </Text>
          </Paper>
        ))}
      </Stack>
    </Stack>
  );
}
