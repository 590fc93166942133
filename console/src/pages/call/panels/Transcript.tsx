import { Badge, Text } from '@mantine/core';
import { memo, useDeferredValue, useEffect, useMemo, useRef } from 'react';

import { formatDuration, formatLatency } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';
import { SIDES, STATES } from '../colors.ts';
import { eventDetail, kindOfEvent } from '../eventTexts.ts';
import type { Axis, HistoryEvent, Message, Timeline } from '../model/callTimeline.ts';
import { type Player, useIsPlaying, usePosition } from '../Player.ts';
import classes from './panels.module.css';

const SLOW_MS = 1500;
/** What is seen at once; the rest of a long call follows. */
const FIRST_ROWS = 60;
/** They stand on the time line or in a panel of their own. */
const HIDDEN: ReadonlySet<string> = new Set(['webhook_sent', 'session_started']);

const texts = textsIn({
  en: {
    transcript: 'Transcript',
    caller: 'Caller',
    agent: 'Agent',
    interrupted: 'interrupted',
    after: (latency: string) => `after ${latency}`,
    none: 'Nothing was said yet.',
    failed: 'failed',
  },
  'zh-TW': {
    transcript: '逐字稿',
    caller: '來電者',
    agent: '語音代理',
    interrupted: '被打斷',
    after: (latency: string) => `等待 ${latency}`,
    none: '尚無對話。',
    failed: '失敗',
  },
});

type Row = { readonly atMs: number } & ({ readonly message: Message } | { readonly event: HistoryEvent });

/** Words and events in their order; each row is heard from its place when it is chosen. */
export function Transcript({ timeline, axis, player }: { timeline: Timeline; axis: Axis; player: Player }) {
  const rows = useMemo(() => rowsOf(timeline, axis), [timeline, axis]);
  const shown = useDeferredValue(rows, rows.slice(0, FIRST_ROWS));
  const positionMs = usePosition(player);
  const isPlaying = useIsPlaying(player);
  const list = useRef<HTMLDivElement>(null);
  const active = rows.findLastIndex(({ atMs }) => atMs <= positionMs + 1);
  useEffect(() => {
    if (!isPlaying || !list.current) return;
    const row = list.current.children[active];
    if (row instanceof HTMLElement)
      list.current.scrollTop = row.offsetTop - list.current.offsetTop - list.current.clientHeight / 3;
  }, [active, isPlaying]);
  if (rows.length === 0) return <Text c="dimmed">{texts.none}</Text>;
  return (
    <section ref={list} className={classes.rows} aria-label={texts.transcript}>
      {shown.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows are only added
        <RowButton key={index} row={row} isActive={index === active} player={player} />
      ))}
    </section>
  );
}

const RowButton = memo(function RowButton({
  row,
  isActive,
  player,
}: {
  row: Row;
  isActive: boolean;
  player: Player;
}) {
  return (
    <button
      type="button"
      className={classes.row}
      data-active={isActive || undefined}
      onClick={() => player.playFrom(row.atMs)}
    >
      <span className={classes.time}>{formatDuration(row.atMs)}</span>
      {'message' in row ? <Words message={row.message} /> : <Event event={row.event} />}
    </button>
  );
});

function Words({ message }: { message: Message }) {
  const { role, content, latencyMs, interrupted, generatedText } = message;
  const isCaller = role === 'user';
  const unheard =
    interrupted && generatedText?.startsWith(content ?? '')
      ? generatedText.slice((content ?? '').length)
      : '';
  return (
    <div>
      <span className={classes.speaker}>
        <span
          style={{
            color: `light-dark(${SIDES[isCaller ? 'caller' : 'agent']}, ${isCaller ? '#3bc9db' : '#b197fc'})`,
          }}
        >
          {isCaller ? texts.caller : role === 'tool' ? message.name : texts.agent}
        </span>
        {latencyMs !== undefined && role === 'assistant' && (
          <Badge
            size="sm"
            tt="none"
            variant={latencyMs > SLOW_MS ? 'filled' : 'default'}
            color={latencyMs > SLOW_MS ? STATES.bad : 'gray'}
          >
            {texts.after(formatLatency(latencyMs))}
          </Badge>
        )}
        {interrupted && (
          <Badge size="sm" tt="none" variant="default">
            {texts.interrupted}
          </Badge>
        )}
      </span>
      <div className={classes.bubble}>
        {content}
        {unheard && <span className={classes.unheard}>{unheard}</span>}
      </div>
    </div>
  );
}

function Event({ event }: { event: HistoryEvent }) {
  const isFailed = event.type === 'error' || event.data.ok === false;
  return (
    <span className={classes.event} data-failed={isFailed || undefined}>
      <b>
        {kindOfEvent(event)}
        {event.data.ok === false && ` (${texts.failed})`}
      </b>{' '}
      {eventDetail(event)}
    </span>
  );
}

function rowsOf({ messages, events }: Timeline, axis: Axis): Row[] {
  const said = messages
    .filter(({ content }) => content !== null && content !== '')
    .map((message) => ({ atMs: axis.at(message.spoken?.from ?? message.at), message }));
  const happened = events
    .filter(({ type }) => !HIDDEN.has(type))
    .map((event) => ({ atMs: axis.at(event.at), event }));
  return [...said, ...happened].sort((one, other) => one.atMs - other.atMs);
}
