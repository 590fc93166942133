import {
  Button,
  Input,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { FormError } from '../../../components/FormError.tsx';
import { formatDateTime } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';
import { type RunInput, useRuns } from '../testData.ts';

const texts = textsIn({
  en: {
    version: 'Version of the agent',
    versions: { live: 'Live', draft: 'Draft' },
    channel: 'Over',
    channels: { own: 'Each its own', chat: 'Chat', phone: 'Phone' },
    repeat: 'Repeats of each case',
    repeatHelp: 'More than one shows which cases are flaky.',
    concurrency: 'At the same time',
    seed: 'Seed',
    seedHelp: 'The same seed gives the same caller. Empty: a random one.',
    modes: 'Execution modes',
    models: 'Chat models',
    own: 'The agent’s own',
    severalHelp: 'Several are run one beside the other.',
    baseline: 'Compare with',
    noBaseline: 'No run',
    start: 'Start the run',
  },
  'zh-TW': {
    version: '代理版本',
    versions: { live: '線上版', draft: '草稿' },
    channel: '管道',
    channels: { own: '依案例設定', chat: '文字', phone: '電話' },
    repeat: '每個案例的重複次數',
    repeatHelp: '執行多次可找出不穩定的案例。',
    concurrency: '同時執行數',
    seed: '種子',
    seedHelp: '相同的種子產生相同的來電者。留空則隨機。',
    modes: '執行模式',
    models: '聊天模型',
    own: '代理的設定',
    severalHelp: '選擇多項時會並列執行。',
    baseline: '比較基準',
    noBaseline: '不比較',
    start: '開始執行',
  },
});

const MODES = ['smart', 'balance', 'turbo'] as const;

/** Undefined for the agent's own. */
const orOwn = <Item,>(items: readonly Item[]): readonly (Item | undefined)[] =>
  items.length > 0 ? items : [undefined];

/** What is run. */
export interface RunSubject {
  kind: 'suite' | 'case';
  id: string;
  name: string;
}

export function RunForm({ projectId, subject }: { projectId: string; subject: RunSubject }) {
  const [version, setVersion] = useState<'live' | 'draft'>('live');
  const [channel, setChannel] = useState<'own' | 'chat' | 'phone'>('own');
  const [repeat, setRepeat] = useState<number | string>(1);
  const [concurrency, setConcurrency] = useState<number | string>(4);
  const [modes, setModes] = useState<string[]>([]);
  const [models, setModels] = useState<string[]>([]);
  const [seed, setSeed] = useState<number | string>('');
  const [baselineRunId, setBaseline] = useState<string | null>(null);
  const baselines = useBaselines(projectId, subject);
  const start = useStartRun(projectId, subject);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const shared: RunInput = {
      version,
      repeat: Number(repeat),
      concurrency: Number(concurrency),
      ...(channel !== 'own' && { channel }),
      ...(seed !== '' && { seed: Number(seed) }),
      ...(baselineRunId !== null && { baselineRunId }),
    };
    start.mutate(
      orOwn(MODES.filter((mode) => modes.includes(mode))).flatMap((mode) =>
        orOwn(models).map((model) => ({ ...shared, ...(mode && { mode }), ...(model && { model }) })),
      ),
    );
  };
  return (
    <Stack component="form" onSubmit={submit}>
      <Input.Wrapper label={texts.version} labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label={texts.version}
          data={(['live', 'draft'] as const).map((value) => ({ value, label: texts.versions[value] }))}
          value={version}
          onChange={setVersion}
        />
      </Input.Wrapper>
      <Input.Wrapper label={texts.channel} labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label={texts.channel}
          data={(['own', 'chat', 'phone'] as const).map((value) => ({ value, label: texts.channels[value] }))}
          value={channel}
          onChange={setChannel}
        />
      </Input.Wrapper>
      <SimpleGrid cols={2}>
        <NumberInput
          label={texts.repeat}
          value={repeat}
          onChange={setRepeat}
          min={1}
          max={20}
          allowDecimal={false}
        />
        <NumberInput
          label={texts.concurrency}
          value={concurrency}
          onChange={setConcurrency}
          min={1}
          max={20}
          allowDecimal={false}
        />
      </SimpleGrid>
      <Input.Description>{texts.repeatHelp}</Input.Description>
      <SimpleGrid cols={2}>
        <MultiSelect
          label={texts.modes}
          placeholder={modes.length === 0 ? texts.own : ''}
          data={MODES}
          value={modes}
          onChange={setModes}
        />
        <TagsInput
          label={texts.models}
          placeholder={models.length === 0 ? texts.own : ''}
          value={models}
          onChange={setModels}
          maxTags={10}
        />
      </SimpleGrid>
      <Input.Description>{texts.severalHelp}</Input.Description>
      <Select
        label={texts.baseline}
        placeholder={texts.noBaseline}
        data={baselines}
        value={baselineRunId}
        onChange={setBaseline}
        clearable
        clearButtonProps={{ 'aria-label': texts.noBaseline }}
        disabled={baselines.length === 0}
      />
      <NumberInput
        label={texts.seed}
        description={texts.seedHelp}
        value={seed}
        onChange={setSeed}
        min={0}
        max={0xffff_ffff}
        allowDecimal={false}
      />
      <FormError error={start.error} />
      <Button type="submit" loading={start.isPending}>
        {texts.start}
      </Button>
    </Stack>
  );
}

/** Runs that have ended, the newest first. */
function useBaselines(projectId: string, { kind, id }: RunSubject) {
  const { data: runs } = useRuns(projectId, 1, kind === 'suite' ? id : undefined);
  return (runs?.data ?? [])
    .filter(({ endedAt }) => endedAt !== null)
    .map((run) => ({ value: run.id, label: `${formatDateTime(run.createdAt)} · ${run.name}` }));
}

function useStartRun(projectId: string, { kind, id }: RunSubject) {
  const api = useApi();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async (bodies: readonly RunInput[]) => {
      const start = (body: RunInput) =>
        kind === 'suite'
          ? api.POST('/v1/projects/{projectId}/test-suites/{testSuiteId}/runs', {
              params: { path: { projectId, testSuiteId: id } },
              body,
            })
          : api.POST('/v1/projects/{projectId}/test-cases/{testCaseId}/runs', {
              params: { path: { projectId, testCaseId: id } },
              body,
            });
      const runs = [];
      for (const body of bodies) runs.push((await bodyOf(start(body))).data.id);
      return runs;
    },
    onSuccess: ([testRunId = '', ...others]) =>
      others.length === 0
        ? navigate({ to: '/projects/$projectId/tests/runs/$testRunId', params: { projectId, testRunId } })
        : navigate({
            to: '/projects/$projectId/tests/compare',
            params: { projectId },
            search: { runs: [testRunId, ...others].join() },
          }),
  });
}
