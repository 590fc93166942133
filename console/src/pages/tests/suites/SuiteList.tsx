import { Button, Group, Loader, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { FormError } from '../../../components/FormError.tsx';
import { handleSubmit } from '../../../components/handleSubmit.ts';
import { formatNumber } from '../../../formats.ts';
import { ErrorPage } from '../../../layout/ErrorPage.tsx';
import { PageLink } from '../../../layout/links.tsx';
import { useScope } from '../../../session/session.ts';
import { textsIn } from '../../../texts.ts';
import { RunButton } from '../runs/RunButton.tsx';
import { useSuites } from '../testData.ts';

const texts = textsIn({
  en: {
    none: 'No suite yet. A suite is a set of cases that are run together, for example before each release.',
    loading: 'The suites are loading',
    name: 'Name of the suite',
    create: 'Create a suite',
    cases: (count: number) => (count === 1 ? '1 case' : `${formatNumber(count)} cases`),
  },
  'zh-TW': {
    none: '尚無測試套件。套件是一起執行的一組案例，例如每次發布前執行。',
    loading: '正在載入測試套件',
    name: '套件名稱',
    create: '建立測試套件',
    cases: (count: number) => `${formatNumber(count)} 個案例`,
  },
});

export function SuiteList({ projectId }: { projectId: string }) {
  const { data: suites, error } = useSuites(projectId);
  const mayWrite = useScope('write');
  if (error && !suites) return <ErrorPage error={error} />;
  return (
    <Stack>
      {mayWrite && <CreateSuite projectId={projectId} />}
      {suites === undefined && <Loader aria-label={texts.loading} />}
      {suites?.length === 0 && <Text c="dimmed">{texts.none}</Text>}
      {suites?.map(({ id, name, testCases }) => (
        <Paper key={id} withBorder p="sm" radius="md" component="article" aria-label={name}>
          <Group justify="space-between">
            <Stack gap={2} miw={0}>
              <PageLink
                to="/projects/$projectId/tests/suites/$testSuiteId"
                params={{ projectId, testSuiteId: id }}
                fw={600}
                style={{ overflowWrap: 'anywhere' }}
              >
                {name}
              </PageLink>
              <Text size="xs" c="dimmed">
                {texts.cases(testCases.length)}
              </Text>
            </Stack>
            {mayWrite && testCases.length > 0 && (
              <RunButton projectId={projectId} subject={{ kind: 'suite', id, name }} variant="default" />
            )}
          </Group>
        </Paper>
      ))}
    </Stack>
  );
}

function CreateSuite({ projectId }: { projectId: string }) {
  const api = useApi();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v1/projects/{projectId}/test-suites', {
          params: { path: { projectId } },
          body: { name: name.trim() },
        }),
      ),
    onSuccess: async ({ data: { id } }) => {
      await queries.invalidateQueries({ queryKey: ['test-suites', projectId] });
      await navigate({
        to: '/projects/$projectId/tests/suites/$testSuiteId',
        params: { projectId, testSuiteId: id },
      });
    },
  });
  return (
    <Stack component="form" onSubmit={handleSubmit(() => mutate())} gap="xs">
      <Group align="flex-end">
        <TextInput
          label={texts.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={128}
          required
        />
        <Button type="submit" loading={isPending} disabled={name.trim() === ''}>
          {texts.create}
        </Button>
      </Group>
      <FormError error={error} />
    </Stack>
  );
}
