import { Outlet, useParams } from '@tanstack/react-router';

import { ProjectApi } from '../api/apiContext.tsx';

export function ProjectLayout() {
  const { projectId } = useParams({ from: '/projects/$projectId' });
  return (
    <ProjectApi projectId={projectId}>
      <Outlet />
    </ProjectApi>
  );
}
