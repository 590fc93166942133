import { type LiveEventType, useLiveRefresh } from '../../api/liveEvents.ts';

const TYPES = ['test.updated'] as const satisfies LiveEventType[];

/** Reads a project's runs again when one of their plays has ended. */
export function useRunEvents(projectId: string): void {
  useLiveRefresh(projectId, TYPES, [['test-runs', projectId], ['test-run']]);
}
