import type { LiveEvent, LiveEventType } from '../../../api/liveEvents.ts';

/** What goes on in one call. */
export interface Activity {
  /** Title of the current node. */
  readonly node?: string;
  readonly speaker?: 'caller' | 'agent';
  /** What was said last. */
  readonly words?: string;
}

export type Activities = Readonly<Record<string, Activity>>;

export const ACTIVITY_EVENTS: readonly LiveEventType[] = [
  'call.queued',
  'call.ringing',
  'call.answered',
  'call.held',
  'call.resumed',
  'call.ended',
  'node.entered',
  'turn.started',
  'turn.user',
  'turn.agent',
  'transcript.interim',
];

/** What is known after an event. */
export function nextActivities(activities: Activities, event: LiveEvent): Activities {
  const change = changeBy(event);
  if (event.callId === undefined || !change) return activities;
  return { ...activities, [event.callId]: { ...activities[event.callId], ...change } };
}

function changeBy(event: LiveEvent): Activity | undefined {
  switch (event.type) {
    case 'node.entered':
      return { node: event.data.title };
    case 'turn.started':
      return { speaker: 'agent' };
    case 'turn.user':
      return { words: event.data.text };
    case 'turn.agent':
    case 'transcript.interim':
      return { words: event.data.text, speaker: 'caller' };
    default:
      return undefined;
  }
}
