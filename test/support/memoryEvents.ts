import {
  type EventFeed,
  type FeedListener,
  type LoggedEvent,
  streamedEvent,
} from '../../src/events/eventFeed.ts';
import { compareEventIds } from '../../src/events/eventId.ts';
import { INTERIM, type NewLiveEvent } from '../../src/events/liveEvent.ts';
import { eventText, type LiveEvents } from '../../src/events/liveEvents.ts';

export interface MemoryEvents extends LiveEvents, EventFeed {
  /** Of all projects that are listened to. */
  listeners(): number;
  /** What was kept before is forgotten. */
  forget(): void;
  /** Listeners hear nothing until `reconnect`. */
  disconnect(): void;
  reconnect(): void;
}

/** Live events as they go through Redis, without it: the first one of a project has the id `1-0`. */
export function memoryEvents(): MemoryEvents {
  const kept: (LoggedEvent & { readonly projectId: string })[] = [];
  const listeners = new Map<FeedListener, string>();
  let count = 0;
  let isConnected = true;
  const tell = (projectId: string, logged: LoggedEvent) => {
    if (!isConnected) return;
    for (const [listener, of] of listeners) if (of === projectId) listener.onEvent(streamedEvent(logged));
  };
  const of = (projectId: string) => kept.filter((event) => event.projectId === projectId);
  return {
    publish(event: NewLiveEvent) {
      const { projectId } = event;
      const text = eventText(event, '2026-01-01T00:00:00.000Z');
      if (event.type === INTERIM) return tell(projectId, { id: `${count}-0.1`, text });
      count += 1;
      kept.push({ projectId, id: `${count}-0`, text });
      tell(projectId, { id: `${count}-0`, text });
    },
    async listen(projectId, listener) {
      listeners.set(listener, projectId);
      return () => listeners.delete(listener);
    },
    after: async (projectId, id, limit) =>
      of(projectId)
        .filter((event) => compareEventIds(event.id, id) > 0)
        .slice(0, limit),
    has: async (projectId, id) => of(projectId).some((event) => event.id === id),
    newest: async (projectId) => of(projectId).at(-1)?.id ?? '0-0',
    listeners: () => listeners.size,
    forget: () => void kept.splice(0),
    disconnect() {
      isConnected = false;
    },
    reconnect() {
      isConnected = true;
      for (const listener of listeners.keys()) listener.onGap();
    },
  };
}
