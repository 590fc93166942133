import { useEffect, useRef } from 'react';

import { useSession } from '../session/session.ts';
import { withoutBidiControls } from './bidiControls.ts';
import type { components } from './schema.d.ts';

export type LiveEvent = components['schemas']['LiveEvent'];
export type LiveEventType = LiveEvent['type'];

/**
 * Follows what happens in a project, by the browser's own event stream, which connects again by itself.
 *
 * @param types - What to listen to; the same array in each rendering.
 * @param callId - Only the events of this call.
 * @param isOn - Whether to follow at all.
 */
export function useLiveEvents(
  projectId: string,
  {
    types,
    callId,
    isOn = true,
  }: { types: readonly LiveEventType[]; callId?: string | undefined; isOn?: boolean },
  onEvent: (event: LiveEvent) => void,
): void {
  const session = useSession();
  const listener = useRef(onEvent);
  useEffect(() => {
    listener.current = onEvent;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the browser gives up a stream whose session has ended; the next session opens it anew.
  useEffect(() => {
    if (!isOn) return;
    const query = new URLSearchParams({ type: types.join(',') });
    if (callId !== undefined) query.set('callId', callId);
    if (types.includes('transcript.interim')) query.set('interim', 'true');
    const stream = new EventSource(`/v1/projects/${encodeURIComponent(projectId)}/events?${query}`);
    const read = ({ data }: MessageEvent<string>) => listener.current(JSON.parse(withoutBidiControls(data)));
    for (const type of types) stream.addEventListener(type, read);
    return () => stream.close();
  }, [projectId, types, callId, isOn, session]);
}
