import { Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';

/** The first page of a project. */
export function HomePage() {
  const { projectId } = useParams({ from: '/projects/$projectId' });
  const api = useApi();
  const { data: project, error } = useQuery({
    queryKey: ['project', projectId],
    queryFn: () => bodyOf(api.GET('/v1/projects/{projectId}', { params: { path: { projectId } } })),
  });
  if (error) return <ErrorPage error={error} />;
  return (
    <Stack>
      <Title order={1} size="h2">
        {project?.name}
      </Title>
    </Stack>
  );
}
