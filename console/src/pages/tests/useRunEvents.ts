import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';

/** Many plays can end at once; the run is read this often at most. */
const READ_EVERY_MS = 700;

/**
 * Reads a project's runs anew when one of their plays has ended. The browser connects again by itself, and goes on after the
 * last event.
 */
export function useRunEvents(projectId: string): void {
  const queries = useQueryClient();
  useEffect(() => {
    const changed = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = () => {
      timer = undefined;
      void queries.invalidateQueries({ queryKey: ['test-runs', projectId] });
      for (const runId of changed) void queries.invalidateQueries({ queryKey: ['test-run', runId] });
      changed.clear();
    };
    const stream = new EventSource(`/v1/projects/${projectId}/events?type=test.updated`);
    // What ended before the stream was open.
    stream.addEventListener('open', () => {
      void queries.invalidateQueries({ queryKey: ['test-runs', projectId] });
      void queries.invalidateQueries({ queryKey: ['test-run'] });
    });
    stream.addEventListener('test.updated', ({ data }) => {
      const event = JSON.parse(data) as { data: { testRunId: string } };
      changed.add(event.data.testRunId);
      timer ??= setTimeout(read, READ_EVERY_MS);
    });
    return () => {
      clearTimeout(timer);
      stream.close();
    };
  }, [projectId, queries]);
}
