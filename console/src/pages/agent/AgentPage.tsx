import { Badge, Button, Group, Modal, Stack, Tabs, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazyRouteComponent, useBlocker, useParams } from '@tanstack/react-router';
import { Suspense } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { FormError } from '../../components/FormError.tsx';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageTitle } from '../../layout/PageTitle.tsx';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';
import { type Agent, agentQuery, pathwayQuery } from './agentQueries.ts';
import type { Stored } from './pathway/editorState.ts';
import { PathwayEditor } from './pathway/PathwayEditor.tsx';
import { usePathwayEditor } from './pathway/usePathwayEditor.ts';

const texts = textsIn({
  en: {
    pathway: 'Pathway',
    tools: 'Tools',
    speech: 'Speech',
    settings: 'Settings',
    versions: 'Versions',
    draft: 'Draft',
    published: 'Published',
    live: 'What you save is live for new conversations at once.',
    frozen:
      'Callers get what was published last; what you save is seen by tests alone. Before the first publication, what you save is live.',
    publish: 'Publish…',
    publishDialog: 'Publish the agent',
    toDraft: 'Work on a draft',
    leave: 'The pathway has unsaved changes. Leave without them?',
  },
  'zh-TW': {
    pathway: '路徑',
    tools: '工具',
    speech: '語音',
    settings: '設定',
    versions: '版本',
    draft: '草稿',
    published: '已發布',
    live: '儲存後立即用於新的對話。',
    frozen: '來電者使用上次發布的版本；儲存的更改只有測試看得到。首次發布之前，儲存後立即生效。',
    publish: '發布…',
    publishDialog: '發布代理',
    toDraft: '改用草稿',
    leave: '路徑有尚未儲存的更改。要捨棄並離開嗎？',
  },
});

// What the first tab does not need is loaded with its tab.
const ToolsTab = lazyRouteComponent(() => import('./tools/ToolsTab.tsx'), 'ToolsTab');
const SpeechTab = lazyRouteComponent(() => import('./settings/SpeechTab.tsx'), 'SpeechTab');
const AgentForm = lazyRouteComponent(() => import('./settings/AgentForm.tsx'), 'AgentForm');
const VersionsTab = lazyRouteComponent(() => import('./versions/VersionsTab.tsx'), 'VersionsTab');
const PublishForm = lazyRouteComponent(() => import('../releases/PublishForm.tsx'), 'PublishForm');

const TABS = ['pathway', 'tools', 'speech', 'settings', 'versions'] as const;
/** What the tab of speech and the button to publish do not show. */
const SETTINGS = [
  'name',
  'globalPrompt',
  'type',
  'executionMode',
  'timezone',
  'variableConfigs',
  'memoryEnabled',
  'shareCallerNumber',
  'recording',
  'sessionIdleMinutes',
  'chat',
  'engine',
  'placeholderMessages',
  'transferTargets',
  'notUnderstood',
  'optOut',
  'disclosures',
  'beforeStartConfig',
  'postSessionWebhook',
  'eventWebhook',
  'postEvaluationConfig',
  'analysis',
] as const satisfies readonly (keyof Agent)[];

/** The agent of a project: its pathway, tools, voice and settings. */
export function AgentPage() {
  const { projectId } = useParams({ from: '/projects/$projectId' });
  const api = useApi();
  const agent = useQuery(agentQuery(api, projectId));
  const pathway = useQuery(pathwayQuery(api, projectId));
  const error = agent.error ?? pathway.error;
  if (error && !(agent.data && pathway.data)) return <ErrorPage error={error} />;
  if (!agent.data || !pathway.data) return null;
  return <AgentOf key={projectId} projectId={projectId} agent={agent.data} pathway={pathway.data} />;
}

function AgentOf({ projectId, agent, pathway }: { projectId: string; agent: Agent; pathway: Stored }) {
  const isReadOnly = !useScope('write');
  const editor = usePathwayEditor(projectId, pathway);
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      editor.hasChanges && current.pathname !== next.pathname && !window.confirm(texts.leave),
    enableBeforeUnload: () => editor.hasChanges,
  });
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Group gap="sm">
          <PageTitle>{agent.name}</PageTitle>
          <Badge variant={agent.status === 'published' ? 'filled' : 'outline'}>{texts[agent.status]}</Badge>
        </Group>
        {!isReadOnly && <PublishButton {...{ projectId, agent, editor }} />}
      </Group>
      <Text size="sm" c="dimmed">
        {agent.status === 'published' ? texts.live : texts.frozen}
      </Text>
      <Tabs defaultValue="pathway" keepMounted={false}>
        <Tabs.List mb="sm">
          {TABS.map((tab) => (
            <Tabs.Tab key={tab} value={tab}>
              {texts[tab]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="pathway">
          <PathwayEditor {...{ projectId, editor, isReadOnly }} />
        </Tabs.Panel>
        <Suspense>
          <Tabs.Panel value="tools">
            <ToolsTab {...{ projectId, isReadOnly }} />
          </Tabs.Panel>
          <Tabs.Panel value="speech">
            <SpeechTab {...{ projectId, agent, isReadOnly }} />
          </Tabs.Panel>
          <Tabs.Panel value="settings">
            <AgentForm {...{ projectId, agent, isReadOnly }} fields={SETTINGS} />
          </Tabs.Panel>
          <Tabs.Panel value="versions">
            <VersionsTab
              {...{ projectId, isReadOnly }}
              current={pathway.version}
              hasChanges={editor.hasChanges}
            />
          </Tabs.Panel>
        </Suspense>
      </Tabs>
    </Stack>
  );
}

/** Publishes with what is not saved yet; or begins a draft, during which callers get what was published. */
function PublishButton({
  projectId,
  agent,
  editor,
}: {
  projectId: string;
  agent: Agent;
  editor: ReturnType<typeof usePathwayEditor>;
}) {
  const api = useApi();
  const queries = useQueryClient();
  const [isOpen, dialog] = useDisclosure();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      bodyOf(
        api.PATCH('/v1/projects/{projectId}/agent', {
          params: { path: { projectId } },
          body: { status: 'draft' },
        }),
      ),
    onSuccess: (next) => queries.setQueryData(agentQuery(api, projectId).queryKey, next),
  });
  const save = async () => {
    if (!editor.hasChanges) return;
    await editor.save.mutateAsync({ graph: editor.graph, version: editor.base.version });
  };
  if (agent.status === 'draft') {
    return (
      <>
        <Button onClick={dialog.open}>{texts.publish}</Button>
        <Modal opened={isOpen} onClose={dialog.close} title={texts.publishDialog}>
          <Suspense>
            <PublishForm projectId={projectId} beforePublish={save} onPublished={dialog.close} />
          </Suspense>
        </Modal>
      </>
    );
  }
  return (
    <Group gap="xs">
      <FormError error={error} />
      <Button variant="default" onClick={() => mutate()} loading={isPending}>
        {texts.toDraft}
      </Button>
    </Group>
  );
}
