import { Badge, Button, Code, Divider, Group, JsonInput, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { FormError } from '../../../components/FormError.tsx';
import { formatLatency } from '../../../formats.ts';
import { isObject, type JsonObject } from '../../../schemaForm/jsonSchema.ts';
import { SchemaForm } from '../../../schemaForm/SchemaForm.tsx';
import { textsIn } from '../../../texts.ts';
import { errorsByPointer, type Tool } from '../agentQueries.ts';

const texts = textsIn({
  en: {
    title: 'Try it',
    help: 'The tool’s own server gets the request, as the tool was saved.',
    variables: 'Variables of the conversation (JSON)',
    try: 'Try',
    request: 'Request',
    answer: 'What the model is told',
    ok: 'succeeded',
    failed: 'failed',
    notSent: 'No request was sent.',
  },
  'zh-TW': {
    title: '試用',
    help: '會以已儲存的設定，對工具的伺服器發出請求。',
    variables: '對話變數（JSON）',
    try: '試用',
    request: '請求',
    answer: '告知模型的內容',
    ok: '成功',
    failed: '失敗',
    notSent: '未發出請求。',
  },
});

/** Calls the tool as the agent would. */
export function TryTool({ projectId, tool }: { projectId: string; tool: Tool }) {
  const api = useApi();
  const [values, setValues] = useState<JsonObject>({});
  const [variables, setVariables] = useState('{}');
  const path = { projectId, toolId: tool.id };
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: (given: JsonObject) =>
      bodyOf(
        api.POST('/v1/projects/{projectId}/tools/{toolId}/try', {
          params: { path },
          body: { arguments: values, variables: given },
        }),
      ),
  });
  const parsed = objectIn(variables);
  return (
    <Stack>
      <Divider />
      <div>
        <Title order={3} size="h5">
          {texts.title}
        </Title>
        <Text size="sm" c="dimmed">
          {texts.help}
        </Text>
      </div>
      <SchemaForm
        schema={tool.parameters}
        value={values}
        onChange={setValues}
        errors={errorsByPointer(error)}
      />
      <JsonInput
        label={texts.variables}
        value={variables}
        onChange={setVariables}
        error={parsed === undefined}
        autosize
        minRows={1}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      />
      <Group>
        <Button
          variant="default"
          onClick={() => parsed && mutate(parsed)}
          loading={isPending}
          disabled={parsed === undefined}
        >
          {texts.try}
        </Button>
        {data && (
          <>
            <Badge variant="default">
              {[data.status, data.ok ? texts.ok : texts.failed].filter((one) => one !== null).join(' · ')}
            </Badge>
            {data.durationMs !== null && <Text size="sm">{formatLatency(data.durationMs)}</Text>}
          </>
        )}
      </Group>
      <FormError error={error} />
      {data && (
        <>
          <Exchange title={texts.request} text={data.request ? requestText(data.request) : texts.notSent} />
          <Exchange title={texts.answer} text={data.result} />
        </>
      )}
    </Stack>
  );
}

function Exchange({ title, text }: { title: string; text: string }) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {text}
      </Code>
    </div>
  );
}

function requestText({
  method,
  url,
  headers,
  body,
}: {
  method: string;
  url: string;
  headers: readonly { key: string; value: string }[];
  body: string | null;
}): string {
  const lines = headers.map(({ key, value }) => `${key}: ${value}`);
  return [`${method} ${url}`, ...lines, ...(body === null ? [] : ['', body])].join('\n');
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
