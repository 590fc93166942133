import {
  ChatBubbleIcon,
  CrossCircledIcon,
  EnterIcon,
  ExclamationTriangleIcon,
  GearIcon,
  HandIcon,
  KeyboardIcon,
  PaperPlaneIcon,
  PersonIcon,
  ReaderIcon,
  SpeakerOffIcon,
  UpdateIcon,
} from '@radix-ui/react-icons';
import type { ReactNode } from 'react';

import { NODES, PARTS, SIDES } from '../colors.ts';
import { type Axis, type HistoryEvent, type Timeline, textOf } from '../model/callTimeline.ts';
import type { Turn } from '../model/turns.ts';
import { useTurnParts } from '../TurnParts.tsx';
import classes from './timeline.module.css';

/** What a marker looks like, by the event's type; what is not here has a lane of its own or none. */
const MARKERS: Readonly<Record<string, { readonly icon: ReactNode; readonly color: string }>> = {
  tool_called: { icon: <GearIcon />, color: '#1971c2' },
  knowledge_used: { icon: <ReaderIcon />, color: '#2f9e44' },
  barge_in: { icon: <HandIcon />, color: '#d9480f' },
  dtmf: { icon: <KeyboardIcon />, color: '#5f3dc4' },
  silence: { icon: <SpeakerOffIcon />, color: '#5c636a' },
  transfer: { icon: <PaperPlaneIcon />, color: '#087f5b' },
  answering_machine: { icon: <EnterIcon />, color: '#5c636a' },
  provider_fallback: { icon: <UpdateIcon />, color: '#a61e4d' },
  supervision: { icon: <PersonIcon />, color: '#0b7285' },
  participant: { icon: <PersonIcon />, color: '#0b7285' },
  warning: { icon: <ExclamationTriangleIcon />, color: '#e67700' },
  error: { icon: <CrossCircledIcon />, color: '#c92a2a' },
};

interface LaneProps {
  readonly timeline: Timeline;
  readonly axis: Axis;
}

const percent = (ms: number, { lengthMs }: Axis) => `${(100 * ms) / lengthMs}%`;

/** The place of a marker, all of which is shown. */
const within = (ms: number, axis: Axis) => `clamp(12px, ${percent(ms, axis)}, calc(100% - 12px))`;

/** Which node the conversation was at. */
export function PathLane({ timeline: { events }, axis }: LaneProps) {
  const entered = events.filter(({ type }) => type === 'node_entered');
  const ids = [...new Set(entered.map(({ data }) => textOf(data, 'nodeId')))];
  return entered.map(({ at, data }, index) => {
    const fromMs = axis.at(at);
    const next = entered[index + 1];
    const toMs = next ? axis.at(next.at) : axis.lengthMs;
    const title = textOf(data, 'title') ?? textOf(data, 'nodeId') ?? '';
    const color = NODES[ids.indexOf(textOf(data, 'nodeId')) % NODES.length];
    return (
      <div
        key={`${at} ${title}`}
        className={classes.block}
        title={title}
        style={{ left: percent(fromMs, axis), width: percent(toMs - fromMs, axis), background: color }}
      >
        {title}
      </div>
    );
  });
}

/** When each side spoke. */
export function WordsLane({ timeline: { messages }, axis }: LaneProps) {
  return messages.map(({ role, spoken, at, content }, index) => {
    if (!spoken || role === 'tool') return null;
    const side = role === 'user' ? 'caller' : 'agent';
    const fromMs = axis.at(spoken.from);
    return (
      <div
        // biome-ignore lint/suspicious/noArrayIndexKey: messages are only added
        key={`${at} ${index}`}
        className={classes.words}
        title={content ?? ''}
        style={{
          left: percent(fromMs, axis),
          width: percent(axis.at(spoken.to) - fromMs, axis),
          top: side === 'caller' ? 4 : 15,
          background: SIDES[side],
        }}
      />
    );
  });
}

/** What each answer waited for. */
export function LatencyLane({ turns, axis }: { turns: readonly Turn[]; axis: Axis }) {
  const { tooltip, handlersOf } = useTurnParts();
  const bars = turns.map((turn, index) => (
    <div
      // biome-ignore lint/suspicious/noArrayIndexKey: turns are only added
      key={index}
      className={classes.part}
      {...handlersOf(turn)}
      style={{
        left: percent(turn.fromMs, axis),
        width: percent(turn.latencyMs, axis),
        background: `linear-gradient(to right, ${stripes(turn.parts)})`,
      }}
    />
  ));
  return (
    <>
      {bars}
      {tooltip}
    </>
  );
}

/** One after the other, without a transition. */
function stripes(parts: Turn['parts']): string {
  let grow = 0;
  const total = parts.reduce((sum, { ms }) => sum + ms, 0);
  return parts
    .flatMap(({ part, ms }) => {
      const from = (100 * grow) / total;
      grow += ms;
      return [`${PARTS[part]} ${from}%`, `${PARTS[part]} ${(100 * grow) / total}%`];
    })
    .join(', ');
}

/** What happened. */
export function EventsLane({
  timeline: { events },
  axis,
  name,
}: LaneProps & { name: (event: HistoryEvent) => string }) {
  return events.map((event, index) => {
    const marker = MARKERS[event.type];
    if (!marker) return null;
    return (
      <div
        // biome-ignore lint/suspicious/noArrayIndexKey: events are only added
        key={`${event.at} ${index}`}
        className={classes.marker}
        title={name(event)}
        style={{ left: within(axis.at(event.at), axis), background: marker.color }}
      >
        {marker.icon}
      </div>
    );
  });
}

/** A webhook's request until its answer. */
export function WebhooksLane({ timeline: { deliveries }, axis }: LaneProps) {
  return deliveries.map(({ deliveryId, attempt, event, at, ok }) => (
    <div
      key={`${deliveryId} ${attempt}`}
      className={classes.marker}
      title={event}
      style={{
        left: within(axis.at(at), axis),
        background: ok ? '#2b8a3e' : '#c92a2a',
      }}
    >
      {ok ? <ChatBubbleIcon /> : <CrossCircledIcon />}
    </div>
  ));
}
