import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { ArrowLeftIcon } from '@radix-ui/react-icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import type { paths } from '../../../api/schema.d.ts';
import { FormError } from '../../../components/FormError.tsx';
import {
  apiDocumentQuery,
  bodySchema,
  initialValue,
  type JsonObject,
} from '../../../schemaForm/jsonSchema.ts';
import { SchemaForm } from '../../../schemaForm/SchemaForm.tsx';
import { textsIn } from '../../../texts.ts';
import { errorsByPointer, type Tool, toolsQuery, useKnownNames } from '../agentQueries.ts';
import { TryTool } from './TryTool.tsx';

const PATH = '/v1/projects/{projectId}/tools';
const FIELDS = ['name', 'description', 'http', 'parameters', 'resultMapping', 'speakWhile'];
/** What an MCP server says of its tools is not changed here. */
const FIELDS_OF_MCP = ['resultMapping', 'speakWhile'];

type ToolBody = NonNullable<paths[typeof PATH]['post']['requestBody']>['content']['application/json'];

const texts = textsIn({
  en: {
    all: 'All tools',
    created: 'New tool',
    save: 'Save',
    create: 'Create',
    remove: 'Delete',
  },
  'zh-TW': { all: '所有工具', created: '新工具', save: '儲存', create: '建立', remove: '刪除' },
});

/** A tool's fields, and a trial of it. */
export function ToolEditor({
  projectId,
  tool,
  isReadOnly,
  onCreated,
  onClose,
}: {
  projectId: string;
  /** Undefined for a new one. */
  tool: Tool | undefined;
  isReadOnly: boolean;
  onCreated: (id: string) => void;
  onClose: () => void;
}) {
  const api = useApi();
  const queries = useQueryClient();
  const { data: document } = useQuery(apiDocumentQuery);
  const { variables } = useKnownNames(api, projectId);
  const [changes, setChanges] = useState<JsonObject>({});
  const isMcp = tool?.source === 'mcp';
  const fields = isMcp ? FIELDS_OF_MCP : FIELDS;
  const schema = bodySchema(document, 'post', PATH);
  const initial = initialValue(schema, document) as JsonObject;
  const value: JsonObject = { ...(tool ? pick(tool, fields) : initial), ...changes };
  const refresh = () => queries.invalidateQueries({ queryKey: toolsQuery(api, projectId).queryKey });
  const save = useMutation({
    mutationFn: async () => {
      if (!tool) {
        const body = value as unknown as ToolBody;
        return await bodyOf(api.POST(PATH, { params: { path: { projectId } }, body }));
      }
      const path = { projectId, toolId: tool.id };
      // A removed field is null, in the tool and in its request.
      const http = 'http' in changes && { http: withNulls(tool.http, changes.http) };
      const body = { ...withNulls(pick(tool, Object.keys(changes)), changes), ...http };
      return await bodyOf(api.PATCH('/v1/projects/{projectId}/tools/{toolId}', { params: { path }, body }));
    },
    onSuccess: async ({ id }) => {
      await refresh();
      setChanges({});
      onCreated(id);
    },
  });
  const remove = useMutation({
    mutationFn: async () => {
      if (!tool) return;
      const path = { projectId, toolId: tool.id };
      await api.DELETE('/v1/projects/{projectId}/tools/{toolId}', { params: { path } });
    },
    onSuccess: async () => {
      await refresh();
      onClose();
    },
  });
  const canSave = !isReadOnly && !save.isPending && (!tool || Object.keys(changes).length > 0);
  useHotkeys([['mod+S', () => canSave && save.mutate()]], []);
  if (!document) return null;
  const error = save.error ?? remove.error;
  return (
    <Stack maw={760}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {tool?.name ?? texts.created}
        </Title>
        <Button variant="default" leftSection={<ArrowLeftIcon />} onClick={onClose}>
          {texts.all}
        </Button>
      </Group>
      {isMcp && <Text size="sm">{tool.description}</Text>}
      <SchemaForm
        schema={schema}
        document={document}
        value={value}
        first={FIELDS}
        hidden={FIELDS.filter((name) => !fields.includes(name))}
        errors={errorsByPointer(save.error)}
        variables={[...parametersOf(value), ...variables]}
        isReadOnly={isReadOnly}
        onChange={(next, field) => setChanges({ ...changes, [field]: next[field] })}
      />
      <FormError error={error} />
      {!isReadOnly && (
        <Group>
          <Button
            onClick={() => save.mutate()}
            loading={save.isPending}
            disabled={tool !== undefined && Object.keys(changes).length === 0}
          >
            {tool ? texts.save : texts.create}
          </Button>
          {tool && (
            <Button variant="outline" color="red" onClick={() => remove.mutate()} loading={remove.isPending}>
              {texts.remove}
            </Button>
          )}
        </Group>
      )}
      {tool && !isReadOnly && <TryTool projectId={projectId} tool={tool} />}
    </Stack>
  );
}

/** The arguments, which templates of the request may name. */
function parametersOf({ parameters }: JsonObject): string[] {
  const { properties } = (parameters ?? {}) as { properties?: object };
  return Object.keys(properties ?? {});
}

function pick(object: object, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)));
}

/** A patch that removes what is no longer there. */
function withNulls(before: object | undefined, after: unknown): JsonObject {
  const removed = Object.keys(before ?? {}).map((name) => [name, null] as const);
  const present = Object.entries(after ?? {}).map(([name, value]) => [name, value ?? null] as const);
  return Object.fromEntries([...removed, ...present]);
}
