import { Group, Loader, Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { ConfirmButton } from '../../../components/ConfirmButton.tsx';
import { ErrorPage } from '../../../layout/ErrorPage.tsx';
import { PageLink } from '../../../layout/links.tsx';
import { PageTitle } from '../../../layout/PageTitle.tsx';
import { useScope } from '../../../session/session.ts';
import { textsIn } from '../../../texts.ts';
import { RunButton } from '../runs/RunButton.tsx';
import type { CaseInput, TestCase } from '../testData.ts';
import { CaseEditor } from './CaseEditor.tsx';
import { newTurn } from './TurnFields.tsx';

const FROM = '/projects/$projectId/tests/cases/$testCaseId';
const PATH = '/v1/projects/{projectId}/test-cases/{testCaseId}';
/** In the address of the page, in place of an id. */
const NEW = 'new';

const texts = textsIn({
  en: {
    back: 'Tests',
    create: 'New test case',
    loading: 'The case is loading',
    saved: 'The case is saved',
    delete: 'Delete the case',
    question: (name: string) => `The case “${name}” is deleted, and leaves its suites.`,
  },
  'zh-TW': {
    back: '測試',
    create: '新的測試案例',
    loading: '正在載入測試案例',
    saved: '已儲存測試案例',
    delete: '刪除測試案例',
    question: (name: string) => `將刪除測試案例「${name}」，並從其套件中移除。`,
  },
});

/** A new case, or one to edit and to run. */
export function CasePage() {
  const { projectId, testCaseId } = useParams({ from: FROM });
  return (
    <Stack maw={900}>
      <PageLink to="/projects/$projectId/tests" params={{ projectId }} search={{ tab: 'cases' }} size="sm">
        ← {texts.back}
      </PageLink>
      {testCaseId === NEW ? <NewCase projectId={projectId} /> : <ExistingCase key={testCaseId} />}
    </Stack>
  );
}

function NewCase({ projectId }: { projectId: string }) {
  const { suite } = useSearch({ from: FROM });
  const api = useApi();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: async (body: CaseInput) => {
      const created = await bodyOf(
        api.POST('/v1/projects/{projectId}/test-cases', { params: { path: { projectId } }, body }),
      );
      if (suite !== undefined) await addToSuite(api, projectId, suite, created.id);
      return created;
    },
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['test-cases', projectId] });
      await queries.invalidateQueries({ queryKey: ['test-suites', projectId] });
      await queries.invalidateQueries({ queryKey: ['test-suite', suite] });
      await (suite === undefined
        ? navigate({ to: FROM, params: { projectId, testCaseId: id }, replace: true })
        : navigate({
            to: '/projects/$projectId/tests/suites/$testSuiteId',
            params: { projectId, testSuiteId: suite },
          }));
    },
  });
  return (
    <>
      <PageTitle>{texts.create}</PageTitle>
      <CaseEditor
        projectId={projectId}
        initial={{ name: '', turns: [newTurn()] }}
        isNew
        onSave={create.mutate}
        isPending={create.isPending}
        error={create.error}
      />
    </>
  );
}

async function addToSuite(
  api: ReturnType<typeof useApi>,
  projectId: string,
  suite: string,
  testCaseId: string,
) {
  const path = '/v1/projects/{projectId}/test-suites/{testSuiteId}';
  const params = { path: { projectId, testSuiteId: suite } };
  const { data } = await bodyOf(api.GET(path, { params }));
  const testCaseIds = [...data.testCases.map(({ id }) => id), testCaseId];
  await api.PATCH(path, { params, body: { testCaseIds } });
}

function ExistingCase() {
  const { projectId, testCaseId } = useParams({ from: FROM });
  const api = useApi();
  const [savedAt, setSavedAt] = useState<string>();
  const { data: testCase, error } = useQuery({
    queryKey: ['test-case', testCaseId],
    queryFn: () => bodyOf(api.GET(PATH, { params: { path: { projectId, testCaseId } } })),
    // What is being typed stays.
    refetchOnWindowFocus: false,
  });
  if (!testCase) return error ? <ErrorPage error={error} /> : <Loader aria-label={texts.loading} />;
  const { updatedAt } = testCase;
  return (
    <EditCase
      key={updatedAt}
      testCase={testCase}
      isSaved={savedAt === updatedAt}
      onSaved={(saved) => setSavedAt(saved.updatedAt)}
    />
  );
}

function EditCase({
  testCase,
  isSaved,
  onSaved,
}: {
  testCase: TestCase;
  /** It is shown as it was just saved here. */
  isSaved: boolean;
  onSaved: (saved: TestCase) => void;
}) {
  const { id, projectId, name } = testCase;
  const mayWrite = useScope('write');
  const api = useApi();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const params = { path: { projectId, testCaseId: id } };
  const initial = useMemo(() => inputOf(testCase), [testCase]);
  const save = useMutation({
    mutationFn: (body: CaseInput) => bodyOf(api.PATCH(PATH, { params, body })),
    onSuccess: async (saved) => {
      onSaved(saved);
      queries.setQueryData(['test-case', id], saved);
      await queries.invalidateQueries({ queryKey: ['test-cases', projectId] });
    },
  });
  const remove = async () => {
    await api.DELETE(PATH, { params });
    await queries.invalidateQueries({ queryKey: ['test-cases', projectId] });
    await queries.invalidateQueries({ queryKey: ['test-suites', projectId] });
    await navigate({ to: '/projects/$projectId/tests', params: { projectId }, search: { tab: 'cases' } });
  };
  return (
    <>
      <Group justify="space-between">
        <PageTitle>{name}</PageTitle>
        {mayWrite && <RunButton projectId={projectId} subject={{ kind: 'case', id, name }} />}
      </Group>
      <CaseEditor
        projectId={projectId}
        initial={initial}
        isNew={false}
        {...(isSaved && { status: texts.saved })}
        onSave={save.mutate}
        isPending={save.isPending}
        error={save.error}
      >
        <ConfirmButton question={texts.question(name)} ml="auto" action={remove}>
          {texts.delete}
        </ConfirmButton>
      </CaseEditor>
    </>
  );
}

/** The fields of a case that are edited. */
function inputOf(testCase: TestCase): CaseInput {
  const { id: _id, projectId: _projectId, createdAt: _createdAt, updatedAt: _updatedAt, ...input } = testCase;
  return input;
}
