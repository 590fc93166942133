import { Outlet, useParams } from '@tanstack/react-router';

import { ApiProvider } from '../api/apiContext.tsx';

export function ProjectLayout() {
  const { projectId } = useParams({ from: '/projects/$projectId' });
  return (
    <ApiProvider projectId={projectId}>
      <Outlet />
    </ApiProvider>
  );
}
