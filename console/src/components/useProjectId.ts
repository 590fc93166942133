import { useParams } from '@tanstack/react-router';

/** The project that the page's address names. */
export function useProjectId(): string {
  return useParams({ from: '/projects/$projectId' }).projectId;
}
