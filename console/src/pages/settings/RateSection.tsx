import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { type Api, ApiError, bodyOf } from '../../api/client.ts';
import type { paths } from '../../api/schema.d.ts';
import { FormError } from '../../components/FormError.tsx';
import { Section } from '../../components/Section.tsx';
import { useProjectId } from '../../components/useProjectId.ts';
import { apiDocumentQuery, bodySchema, initialValue, type JsonObject } from '../../schemaForm/jsonSchema.ts';
import { SchemaForm } from '../../schemaForm/SchemaForm.tsx';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';
import { errorsByPointer } from '../agent/agentQueries.ts';

const PATH = '/v1/projects/{projectId}/rates';
type Rates = NonNullable<paths[typeof PATH]['put']['requestBody']>['content']['application/json'];

const texts = textsIn({
  en: {
    title: 'Rates',
    about:
      'What your vendors bill. They price the sessions that end from now on; past costs stay as they are. Without rates of its own, the project has those of the installation.',
    save: 'Save the rates',
    saved: 'The rates are saved.',
  },
  'zh-TW': {
    title: '費率',
    about:
      '供應商向你收取的價格。儲存後結束的工作階段依此計價，過去的費用不變。專案沒有自己的費率時，使用系統的費率。',
    save: '儲存費率',
    saved: '費率已儲存。',
  },
});

/** Null where neither the project nor the installation has any. */
async function fetchRates(api: Api, projectId: string): Promise<Rates | null> {
  try {
    return await bodyOf(api.GET(PATH, { params: { path: { projectId } } }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** What vendors bill the project. */
export function RateSection() {
  const api = useApi();
  const projectId = useProjectId();
  const { data: document } = useQuery(apiDocumentQuery);
  const { data, error } = useQuery({
    queryKey: ['rates', projectId],
    queryFn: () => fetchRates(api, projectId),
    // A form that is being filled is not filled anew.
    refetchOnWindowFocus: false,
  });
  return (
    <Section title={texts.title} description={texts.about}>
      <FormError error={error} />
      {document !== undefined && data !== undefined && (
        <RateForm projectId={projectId} saved={data} document={document} />
      )}
    </Section>
  );
}

function RateForm({
  projectId,
  saved,
  document,
}: {
  projectId: string;
  saved: Rates | null;
  document: unknown;
}) {
  const api = useApi();
  const queries = useQueryClient();
  const mayWrite = useScope('write');
  const schema = bodySchema(document, 'put', PATH);
  const [value, setValue] = useState<JsonObject>(saved ?? (initialValue(schema, document) as JsonObject));
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: () => {
      const body = value as unknown as Rates;
      return bodyOf(api.PUT(PATH, { params: { path: { projectId } }, body }));
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['rates', projectId] }),
  });
  return (
    <Stack maw={760}>
      <SchemaForm
        schema={schema}
        document={document}
        value={value}
        errors={errorsByPointer(error)}
        isReadOnly={!mayWrite}
        onChange={setValue}
      />
      <FormError error={error} />
      {isSuccess && <Text role="status">{texts.saved}</Text>}
      {mayWrite && (
        <Group>
          <Button onClick={() => mutate()} loading={isPending}>
            {texts.save}
          </Button>
        </Group>
      )}
    </Stack>
  );
}
