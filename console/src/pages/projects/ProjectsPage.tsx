import { Button, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { handleSubmit } from '../../components/handleSubmit.ts';
import { formatDateTime } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageLink } from '../../layout/links.tsx';
import { PageNumbers } from '../../layout/PageNumbers.tsx';
import { PageTitle } from '../../layout/PageTitle.tsx';
import { textsIn } from '../../texts.ts';

const PAGE_SIZE = 50;

const texts = textsIn({
  en: {
    title: 'Projects',
    name: 'Name',
    created: 'Created',
    create: 'Create a project',
    none: 'There is no project yet.',
    pages: 'Pages of projects',
  },
  'zh-TW': {
    title: '專案',
    name: '名稱',
    created: '建立時間',
    create: '建立專案',
    none: '目前沒有專案。',
    pages: '專案分頁',
  },
});

/** For the operator, who has all projects. */
export function ProjectsPage() {
  const api = useApi();
  const [page, setPage] = useState(1);
  const { data, error } = useQuery({
    queryKey: ['projects', page],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects', {
          params: { query: { limit: `${PAGE_SIZE}`, offset: `${(page - 1) * PAGE_SIZE}` } },
        }),
      ),
  });
  if (error && !data) return <ErrorPage error={error} />;
  return (
    <Stack maw={900}>
      <PageTitle>{texts.title}</PageTitle>
      <CreateProject />
      {data?.pagination.total === 0 && <Text>{texts.none}</Text>}
      {data !== undefined && data.pagination.total > 0 && (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.name}</Table.Th>
              <Table.Th>{texts.created}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.data.map(({ id, name, createdAt }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <PageLink to="/projects/$projectId" params={{ projectId: id }}>
                    {name}
                  </PageLink>
                </Table.Td>
                <Table.Td>{formatDateTime(createdAt)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <PageNumbers
        label={texts.pages}
        total={data?.pagination.total ?? 0}
        pageSize={PAGE_SIZE}
        page={page}
        onChange={setPage}
      />
    </Stack>
  );
}

function CreateProject() {
  const api = useApi();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => bodyOf(api.POST('/v1/projects', { body: { name: name.trim() } })),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['projects'] });
      await navigate({ to: '/projects/$projectId', params: { projectId: id } });
    },
  });
  return (
    <Group component="form" align="flex-end" onSubmit={handleSubmit(() => mutate())}>
      <TextInput
        label={texts.name}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={error?.message}
        maxLength={200}
        required
      />
      <Button type="submit" loading={isPending} disabled={name.trim() === ''}>
        {texts.create}
      </Button>
    </Group>
  );
}
