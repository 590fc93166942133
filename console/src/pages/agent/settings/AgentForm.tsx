import { Button, Group, Stack, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import type { paths } from '../../../api/schema.d.ts';
import { FormError } from '../../../components/FormError.tsx';
import { apiDocumentQuery, schemaAt } from '../../../schemaForm/jsonSchema.ts';
import { SchemaForm } from '../../../schemaForm/SchemaForm.tsx';
import { textsIn } from '../../../texts.ts';
import { type Agent, agentQuery, errorsByPointer, useKnownNames } from '../agentQueries.ts';
import { isSame } from '../pathway/differences.ts';
import { TemplatePreview } from '../TemplatePreview.tsx';

const PATH = '/v1/projects/{projectId}/agent';
const SCHEMA = '#/components/schemas/AgentInput';

type AgentPatch = NonNullable<paths[typeof PATH]['patch']['requestBody']>['content']['application/json'];

const texts = textsIn({
  en: { save: 'Save', saved: 'Saved', unsaved: 'Unsaved changes', discard: 'Discard changes' },
  'zh-TW': { save: '儲存', saved: '已儲存', unsaved: '尚未儲存', discard: '捨棄更改' },
});

/** Fields of the agent, of which those that were changed are written. */
export function AgentForm({
  projectId,
  agent,
  fields,
  isReadOnly,
}: {
  projectId: string;
  agent: Agent;
  /** In their order. */
  fields: readonly (keyof Agent)[];
  isReadOnly: boolean;
}) {
  const api = useApi();
  const queries = useQueryClient();
  const { data: document } = useQuery(apiDocumentQuery);
  const { variables } = useKnownNames(api, projectId);
  /** Those that differ from the agent's, by field. */
  const [changes, setChanges] = useState<AgentPatch>({});
  const { mutate, isPending, error, isSuccess, reset } = useMutation({
    mutationFn: () => bodyOf(api.PATCH(PATH, { params: { path: { projectId } }, body: changes })),
    onSuccess: (next) => {
      queries.setQueryData(agentQuery(api, projectId).queryKey, next);
      void queries.invalidateQueries({ queryKey: ['review', projectId] });
      setChanges({});
    },
  });
  const isChanged = Object.keys(changes).length > 0;
  const saveNow = () => {
    if (isChanged && !isPending && !isReadOnly) mutate();
  };
  useHotkeys([['mod+S', saveNow]], []);
  if (!document) return null;
  const all = schemaAt(document, SCHEMA);
  const shown: readonly string[] = fields;
  const hidden = Object.keys({ ...all.properties, ...agent }).filter((name) => !shown.includes(name));
  const value = { ...agent, ...changes };
  return (
    <Stack maw={760}>
      <SchemaForm
        schema={all}
        document={document}
        value={value}
        first={fields}
        hidden={hidden}
        errors={errorsByPointer(error)}
        variables={variables}
        TemplatePreview={TemplatePreview}
        isReadOnly={isReadOnly}
        onChange={(next) => {
          reset();
          setChanges(changedFields(agent, next));
        }}
      />
      <FormError error={error} />
      {!isReadOnly && (
        <Group>
          <Button onClick={saveNow} loading={isPending} disabled={!isChanged}>
            {texts.save}
          </Button>
          {isChanged && (
            <Button variant="default" onClick={() => setChanges({})}>
              {texts.discard}
            </Button>
          )}
          <Text size="sm" c="dimmed" role="status">
            {isChanged ? texts.unsaved : isSuccess && texts.saved}
          </Text>
        </Group>
      )}
    </Stack>
  );
}

/** An emptied field is null, which is how the agent has it. */
function changedFields(agent: Agent, next: object): AgentPatch {
  const stored = new Map<string, unknown>(Object.entries(agent));
  const differing = Object.entries(next).filter(([name, value]) => !isSame(value, stored.get(name)));
  return Object.fromEntries(differing);
}
