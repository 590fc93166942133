import { Badge, Button, Group, Paper, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import { PlusIcon } from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { ErrorPage } from '../../../layout/ErrorPage.tsx';
import { textsIn } from '../../../texts.ts';
import { toolsQuery } from '../agentQueries.ts';
import { ToolEditor } from './ToolEditor.tsx';

const texts = textsIn({
  en: {
    title: 'Tools',
    create: 'New tool',
    none: 'A tool is an HTTP request that the agent makes during a conversation.',
    gone: 'no longer offered',
  },
  'zh-TW': {
    title: '工具',
    create: '新增工具',
    none: '工具是代理在對話中發出的 HTTP 請求。',
    gone: '已不提供',
  },
});

const NEW = 'new';

/** The tools of the project: HTTP requests, and what MCP servers offer. */
export function ToolsTab({ projectId, isReadOnly }: { projectId: string; isReadOnly: boolean }) {
  const { data: tools, error } = useQuery(toolsQuery(useApi(), projectId));
  /** The id of a tool, or that of a new one. */
  const [chosen, setChosen] = useState<string>();
  if (!tools) return error ? <ErrorPage error={error} /> : null;
  const tool = tools.find(({ id }) => id === chosen);
  if (tool || chosen === NEW) {
    return (
      <ToolEditor
        key={chosen}
        {...{ projectId, tool, isReadOnly }}
        onCreated={setChosen}
        onClose={() => setChosen(undefined)}
      />
    );
  }
  return (
    <Stack maw={900}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {texts.title}
        </Title>
        {!isReadOnly && (
          <Button leftSection={<PlusIcon />} onClick={() => setChosen(NEW)}>
            {texts.create}
          </Button>
        )}
      </Group>
      {tools.length === 0 && (
        <Text size="sm" c="dimmed">
          {texts.none}
        </Text>
      )}
      {tools.map(({ id, name, description, source, http, mcp }) => (
        <Paper key={id} withBorder p="sm">
          <UnstyledButton w="100%" onClick={() => setChosen(id)}>
            <Group gap="xs">
              <Text fw={600} ff="monospace">
                {name}
              </Text>
              <Badge variant="light" size="sm">
                {source === 'mcp' ? 'MCP' : http?.method}
              </Badge>
              {mcp?.available === false && (
                <Badge variant="default" size="sm">
                  {texts.gone}
                </Badge>
              )}
            </Group>
            <Text size="sm" c="dimmed" lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
              {description || http?.url}
            </Text>
          </UnstyledButton>
        </Paper>
      ))}
    </Stack>
  );
}
