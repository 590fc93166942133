import { List, Stack, Text, ThemeIcon } from '@mantine/core';
import { CheckIcon, DotFilledIcon } from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { type Api, bodyOf } from '../../api/client.ts';
import { Section } from '../../components/Section.tsx';
import { useProjectId } from '../../components/useProjectId.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageLink } from '../../layout/links.tsx';
import { PageTitle } from '../../layout/PageTitle.tsx';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';
import { Today } from './Today.tsx';
import { Waiting } from './Waiting.tsx';

const texts = textsIn({
  en: {
    steps: 'First steps',
    talk: 'Talk to the agent',
    talkHelp: 'In the browser, by voice or by chat: no trunk is needed.',
    speech: 'Set a speech vendor',
    speechHelp: 'Without one the built-in voices and recognition are used, for trying out only.',
    trunk: 'Connect a trunk',
    trunkHelp: 'Your carrier or PBX, over SIP.',
    call: 'Place a call',
    callHelp: 'To your own phone, for example.',
    tests: 'Run tests',
    testsHelp: 'Suites play a caller against the agent before real ones do.',
    done: 'Done',
    open: 'Not done yet',
  },
  'zh-TW': {
    steps: '第一步',
    talk: '與代理對話',
    talkHelp: '直接在瀏覽器用語音或聊天，不需要中繼線。',
    speech: '設定語音供應商',
    speechHelp: '未設定時使用內建的語音與辨識，僅供試用。',
    trunk: '連接中繼線',
    trunkHelp: '您的電信業者或總機，透過 SIP。',
    call: '撥一通電話',
    callHelp: '例如打到自己的手機。',
    tests: '執行測試',
    testsHelp: '在真正的來電者之前，先由測試套件扮演來電者。',
    done: '完成',
    open: '未完成',
  },
});

/** What a project has done of the first steps. */
async function progressOf(api: Api, projectId: string, mayReadProviders: boolean) {
  const params = { path: { projectId }, query: { limit: '1' } };
  const [sessions, providers, trunks, calls, runs] = await Promise.all([
    bodyOf(api.GET('/v1/projects/{projectId}/session-history', { params })),
    mayReadProviders ? bodyOf(api.GET('/v1/projects/{projectId}/providers', { params })) : undefined,
    bodyOf(api.GET('/v1/projects/{projectId}/trunks', { params })),
    bodyOf(api.GET('/v1/projects/{projectId}/calls', { params })),
    bodyOf(api.GET('/v1/projects/{projectId}/test-runs', { params })),
  ]);
  return {
    talk: sessions.results.length > 0,
    speech: (providers?.data.length ?? 0) > 0,
    trunk: trunks.data.length > 0,
    call: calls.data.length > 0,
    tests: runs.data.length > 0,
  };
}

type Progress = Awaited<ReturnType<typeof progressOf>>;

const STEPS = [
  { step: 'talk', to: '/projects/$projectId/talk', title: texts.talk, help: texts.talkHelp },
  { step: 'speech', to: '/projects/$projectId/settings', title: texts.speech, help: texts.speechHelp },
  { step: 'trunk', to: '/projects/$projectId/trunks', title: texts.trunk, help: texts.trunkHelp },
  { step: 'call', to: '/projects/$projectId/trunks', title: texts.call, help: texts.callHelp },
  { step: 'tests', to: '/projects/$projectId/tests', title: texts.tests, help: texts.testsHelp },
] as const;

/** The first page of a project. */
export function HomePage() {
  const projectId = useProjectId();
  const api = useApi();
  const mayRead = useScope('read');
  const mayReadProviders = useScope('keys:write');
  const project = useQuery({
    queryKey: ['project', projectId],
    queryFn: () => bodyOf(api.GET('/v1/projects/{projectId}', { params: { path: { projectId } } })),
  });
  const progress = useQuery({
    queryKey: ['progress', projectId, mayReadProviders],
    queryFn: () => progressOf(api, projectId, mayReadProviders),
  });
  const error = project.error ?? progress.error;
  if (error && !(project.data && progress.data)) return <ErrorPage error={error} />;
  if (!project.data) return null;
  const isSetUp = progress.data !== undefined && Object.values(progress.data).every((isDone) => isDone);
  return (
    <Stack>
      <PageTitle>{project.data.name}</PageTitle>
      {mayRead && <Waiting projectId={projectId} />}
      {mayRead && <Today projectId={projectId} />}
      {!isSetUp && <FirstSteps projectId={projectId} progress={progress.data} />}
    </Stack>
  );
}

function FirstSteps({ projectId, progress }: { projectId: string; progress: Progress | undefined }) {
  return (
    <Section title={texts.steps}>
      <List spacing="md" center={false}>
        {STEPS.map(({ step, to, title, help }) => {
          const isDone = progress?.[step] === true;
          return (
            <List.Item
              key={step}
              icon={
                <ThemeIcon
                  color={isDone ? 'green.9' : 'gray.7'}
                  size="sm"
                  radius="xl"
                  role="img"
                  aria-label={isDone ? texts.done : texts.open}
                >
                  {isDone ? <CheckIcon /> : <DotFilledIcon />}
                </ThemeIcon>
              }
            >
              <PageLink to={to} params={{ projectId }} fw={600}>
                {title}
              </PageLink>
              <Text size="sm" c="dimmed">
                {help}
              </Text>
            </List.Item>
          );
        })}
      </List>
    </Section>
  );
}
