import { Group, Loader, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { useApi } from '../../../api/apiContext.tsx';
import { ApiError, bodyOf } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { formatLatency } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';
import styles from './Conversation.module.css';

type Message = components['schemas']['HistoryMessage'];

const texts = textsIn({
  en: {
    title: 'What was said',
    loading: 'The conversation is loading',
    notKept: 'The conversation is not kept any more.',
    caller: 'Caller',
    agent: 'Agent',
    interrupted: 'interrupted',
    result: (tool: string) => `${tool} answered`,
  },
  'zh-TW': {
    title: '對話內容',
    loading: '正在載入對話',
    notKept: '對話紀錄已不再保留。',
    caller: '來電者',
    agent: '代理',
    interrupted: '被打斷',
    result: (tool: string) => `${tool} 的回應`,
  },
});

/** Both sides of a test's session, turn by turn. */
export function Conversation({ projectId, sessionId }: { projectId: string; sessionId: string }) {
  const api = useApi();
  const { data, error } = useQuery({
    queryKey: ['conversation', sessionId],
    queryFn: async () => {
      const params = { path: { projectId, sessionId } };
      const found = api.GET('/v1/projects/{projectId}/session-history/{sessionId}', { params });
      const { messages, events } = await bodyOf(found);
      return { messages, titles: titlesOf(events) };
    },
  });
  const isGone = error instanceof ApiError && error.status === 404;
  return (
    <Stack gap="xs">
      <Title order={3} size="h6">
        {texts.title}
      </Title>
      {error && !data && <Text size="sm">{isGone ? texts.notKept : error.message}</Text>}
      {!data && !error && <Loader size="sm" aria-label={texts.loading} />}
      {data?.messages.map((message, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages have no id, and stay in their places
        <Said key={place} message={message} titles={data.titles} />
      ))}
    </Stack>
  );
}

/** Of the nodes that were entered, by their ids. */
function titlesOf(events: readonly { type: string; data: Record<string, unknown> }[]) {
  const entered = events.filter(({ type }) => type === 'node_entered');
  return new Map(entered.map(({ data: { nodeId, title } }) => [String(nodeId), String(title)]));
}

function Said({ message, titles }: { message: Message; titles: ReadonlyMap<string, string> }) {
  const { role, content, name = '', latencyMs, interrupted, nodeId, tool_calls: toolCalls = [] } = message;
  if (role === 'tool') {
    return (
      <Text size="xs" ff="monospace" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {texts.result(name)}: {content}
      </Text>
    );
  }
  const isCaller = role === 'user';
  return (
    <>
      {content !== null && content !== '' && (
        <div className={`${styles.said} ${isCaller ? styles.caller : styles.agent}`}>
          <Group gap="xs">
            <Text size="xs" fw={600}>
              {isCaller ? texts.caller : texts.agent}
            </Text>
            {!isCaller && nodeId !== undefined && <Text size="xs">{titles.get(nodeId) ?? nodeId}</Text>}
            {latencyMs !== undefined && <Text size="xs">{formatLatency(latencyMs)}</Text>}
            {interrupted && <Text size="xs">{texts.interrupted}</Text>}
          </Group>
          <Text size="sm">{content}</Text>
        </div>
      )}
      {toolCalls.map(({ id, function: { name: tool, arguments: given } }) => (
        <Text key={id} size="xs" ff="monospace" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {tool}({given})
        </Text>
      ))}
    </>
  );
}
