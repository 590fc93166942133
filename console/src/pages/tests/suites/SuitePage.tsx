import { Button, Checkbox, Group, Loader, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { ConfirmButton } from '../../../components/ConfirmButton.tsx';
import { FormError } from '../../../components/FormError.tsx';
import { handleSubmit } from '../../../components/handleSubmit.ts';
import { ErrorPage } from '../../../layout/ErrorPage.tsx';
import { ButtonLink, PageLink } from '../../../layout/links.tsx';
import { PageTitle } from '../../../layout/PageTitle.tsx';
import { useScope } from '../../../session/session.ts';
import { textsIn } from '../../../texts.ts';
import { RunButton } from '../runs/RunButton.tsx';
import { RunList } from '../runs/RunList.tsx';
import { type TestCase, type TestSuite, useCases } from '../testData.ts';
import { useRunEvents } from '../useRunEvents.ts';

const texts = textsIn({
  en: {
    back: 'Tests',
    loading: 'The suite is loading',
    name: 'Name',
    cases: 'Cases of this suite',
    noCases: 'There are no cases yet.',
    newCase: 'Create a case',
    edit: (name: string) => `Edit ${name}`,
    editLabel: 'Edit',
    save: 'Save',
    runs: 'Runs',
    delete: 'Delete the suite',
    question: (name: string) => `The suite “${name}” is deleted. Its cases stay.`,
  },
  'zh-TW': {
    back: '測試',
    loading: '正在載入測試套件',
    name: '名稱',
    cases: '此套件的案例',
    noCases: '尚無測試案例。',
    newCase: '建立測試案例',
    edit: (name: string) => `編輯 ${name}`,
    editLabel: '編輯',
    save: '儲存',
    runs: '執行紀錄',
    delete: '刪除測試套件',
    question: (name: string) => `將刪除測試套件「${name}」，其案例會保留。`,
  },
});

/** A suite: its cases, and its runs. */
export function SuitePage() {
  const { projectId, testSuiteId } = useParams({ from: '/projects/$projectId/tests/suites/$testSuiteId' });
  const api = useApi();
  const { data: cases, error: casesError } = useCases(projectId);
  const { data: suite, error } = useQuery({
    queryKey: ['test-suite', testSuiteId],
    queryFn: async () => {
      const params = { path: { projectId, testSuiteId } };
      const { data } = await bodyOf(
        api.GET('/v1/projects/{projectId}/test-suites/{testSuiteId}', { params }),
      );
      return data;
    },
  });
  useRunEvents(projectId);
  const problem = error ?? casesError;
  if (problem && !(suite && cases)) return <ErrorPage error={problem} />;
  return (
    <Stack maw={1100}>
      <PageLink to="/projects/$projectId/tests" params={{ projectId }} search={{ tab: 'suites' }} size="sm">
        ← {texts.back}
      </PageLink>
      {suite && cases ? (
        <>
          <EditSuite key={suite.updatedAt} suite={suite} cases={cases} />
          <Title order={2} size="h4">
            {texts.runs}
          </Title>
          <RunList projectId={projectId} testSuiteId={suite.id} />
        </>
      ) : (
        <Loader aria-label={texts.loading} />
      )}
    </Stack>
  );
}

function EditSuite({ suite, cases }: { suite: TestSuite; cases: readonly TestCase[] }) {
  const { id, projectId } = suite;
  const mayWrite = useScope('write');
  const [name, setName] = useState(suite.name);
  const [chosen, setChosen] = useState(suite.testCases.map((one) => one.id));
  const { save, remove } = useSuiteChanges(suite);
  const isChanged =
    name.trim() !== suite.name || chosen.join() !== suite.testCases.map((one) => one.id).join();
  return (
    <Stack>
      <Group justify="space-between">
        <PageTitle>{suite.name}</PageTitle>
        {mayWrite && suite.testCases.length > 0 && (
          <RunButton projectId={projectId} subject={{ kind: 'suite', id, name: suite.name }} />
        )}
      </Group>
      <Paper
        withBorder
        p="md"
        radius="md"
        component="form"
        onSubmit={handleSubmit(() => save.mutate({ name: name.trim(), testCaseIds: chosen }))}
      >
        <Stack>
          <TextInput
            label={texts.name}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            maxLength={128}
            readOnly={!mayWrite}
            required
          />
          <Checkbox.Group label={texts.cases} value={chosen} onChange={setChosen} readOnly={!mayWrite}>
            <Stack gap="xs" mt="xs">
              {cases.length === 0 && <Text c="dimmed">{texts.noCases}</Text>}
              {cases.map((one) => (
                <Group key={one.id} justify="space-between" wrap="nowrap">
                  <Checkbox value={one.id} label={one.name} style={{ overflowWrap: 'anywhere' }} />
                  <PageLink
                    to="/projects/$projectId/tests/cases/$testCaseId"
                    params={{ projectId, testCaseId: one.id }}
                    size="sm"
                    style={{ flexShrink: 0 }}
                    aria-label={texts.edit(one.name)}
                  >
                    {texts.editLabel}
                  </PageLink>
                </Group>
              ))}
            </Stack>
          </Checkbox.Group>
          <FormError error={save.error} />
          {mayWrite && (
            <Group>
              <Button type="submit" loading={save.isPending} disabled={!isChanged || name.trim() === ''}>
                {texts.save}
              </Button>
              <ButtonLink
                variant="default"
                to="/projects/$projectId/tests/cases/$testCaseId"
                params={{ projectId, testCaseId: 'new' }}
                search={{ suite: id }}
              >
                {texts.newCase}
              </ButtonLink>
              <ConfirmButton question={texts.question(suite.name)} ml="auto" action={remove}>
                {texts.delete}
              </ConfirmButton>
            </Group>
          )}
        </Stack>
      </Paper>
    </Stack>
  );
}

function useSuiteChanges({ id: testSuiteId, projectId }: TestSuite) {
  const api = useApi();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const params = { path: { projectId, testSuiteId } };
  const path = '/v1/projects/{projectId}/test-suites/{testSuiteId}';
  const save = useMutation({
    mutationFn: (body: { name: string; testCaseIds: string[] }) => bodyOf(api.PATCH(path, { params, body })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['test-suite', testSuiteId] });
      await queries.invalidateQueries({ queryKey: ['test-suites', projectId] });
    },
  });
  const remove = async () => {
    await api.DELETE(path, { params });
    await queries.invalidateQueries({ queryKey: ['test-suites', projectId] });
    await navigate({ to: '/projects/$projectId/tests', params: { projectId }, search: { tab: 'suites' } });
  };
  return { save, remove };
}
