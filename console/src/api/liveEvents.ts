import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';

import { useSession } from '../session/session.ts';
import { withoutBidiControls } from './bidiControls.ts';
import type { components } from './schema.d.ts';

export type LiveEvent = components['schemas']['LiveEvent'];
export type LiveEventType = LiveEvent['type'];

/** What an event tells is stored by then, and what many events tell is read at most so often. */
const REFRESH_AFTER_MS = 500;

/**
 * Follows what happens in a project, by the browser's own event stream, which connects again by itself.
 *
 * @param types - What to listen to; the same array in each rendering.
 * @param callId - Only the events of this call.
 * @param isOn - Whether to follow at all.
 * @param onOpen - Called when the stream is open, for what happened before.
 */
export function useLiveEvents(
  projectId: string,
  {
    types,
    callId,
    isOn = true,
    onOpen,
  }: {
    types: readonly LiveEventType[];
    callId?: string | undefined;
    isOn?: boolean;
    onOpen?: () => void;
  },
  onEvent: (event: LiveEvent) => void,
): void {
  const session = useSession();
  const listener = useRef({ onEvent, onOpen });
  useEffect(() => {
    listener.current = { onEvent, onOpen };
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the browser gives up a stream whose session has ended; the next session opens it anew.
  useEffect(() => {
    if (!isOn) return;
    const query = new URLSearchParams({ type: types.join(',') });
    if (callId !== undefined) query.set('callId', callId);
    if (types.includes('transcript.interim')) query.set('interim', 'true');
    const stream = new EventSource(`/v1/projects/${encodeURIComponent(projectId)}/events?${query}`);
    const read = ({ data }: MessageEvent<string>) =>
      listener.current.onEvent(JSON.parse(withoutBidiControls(data)));
    stream.addEventListener('open', () => listener.current.onOpen?.());
    for (const type of types) stream.addEventListener(type, read);
    return () => stream.close();
  }, [projectId, types, callId, isOn, session]);
}

/**
 * Reads queries again when live events tell a change.
 *
 * @param types - What to listen to; the same array in each rendering.
 * @param queryKeys - Beginnings of the keys of what is read again.
 * @param isMeant - Whether the change concerns what is shown; default: any.
 */
export function useLiveRefresh(
  projectId: string,
  types: readonly LiveEventType[],
  queryKeys: readonly QueryKey[],
  isMeant: (event: LiveEvent) => boolean = () => true,
): void {
  const queries = useQueryClient();
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const refresh = () => {
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      for (const queryKey of queryKeys) void queries.invalidateQueries({ queryKey });
    }, REFRESH_AFTER_MS);
  };
  useLiveEvents(projectId, { types, onOpen: refresh }, (event) => {
    if (isMeant(event)) refresh();
  });
}
