import { Box, Stack } from '@mantine/core';
import { lazyRouteComponent } from '@tanstack/react-router';
import { type MouseEvent, memo, Suspense, useDeferredValue, useEffect, useRef, useState } from 'react';

import { formatDuration } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';
import { eventName } from '../eventTexts.ts';
import { type Axis, recordingSpan, type Timeline as TimelineData } from '../model/callTimeline.ts';
import type { Turn } from '../model/turns.ts';
import type { Player } from '../Player.ts';
import { EventsLane, LatencyLane, PathLane, WebhooksLane, WordsLane } from './lanes.tsx';
import { MediaPlot } from './MediaPlot.tsx';
import { type MediaFigure, useMediaFigures } from './mediaFigures.ts';
import { PlayerControls } from './PlayerControls.tsx';
import classes from './timeline.module.css';

/** For calls with a recording. */
const Waveform = lazyRouteComponent(() => import('./Waveform.tsx'), 'Waveform');

const WAVEFORM_HEIGHT = 80;
const LANE_HEIGHT = 28;
const PLOT_HEIGHT = 36;
/** Browsers draw no wider canvas. */
const MAX_WIDTH_PX = 16_000;
const STEPS_S = [1, 2, 5, 10, 30, 60, 300, 600, 1800];
const TICKS = 8;

const texts = textsIn({
  en: {
    lanes: 'Time line of the call: click to hear it from there',
    caller: 'Caller',
    agent: 'Agent',
    noRecording: 'No recording',
    recordingRuns: 'Audible after the call',
    words: 'Words',
    path: 'Path',
    events: 'Events',
    latency: 'Latency',
    webhooks: 'Webhooks',
  },
  'zh-TW': {
    lanes: '通話時間軸：點選即可從該處播放',
    caller: '來電者',
    agent: '語音代理',
    noRecording: '沒有錄音',
    recordingRuns: '通話結束後可收聽',
    words: '話語',
    path: '路徑',
    events: '事件',
    latency: '延遲',
    webhooks: 'Webhook',
  },
});

/** Everything that happened, one lane below the other in step with the audio. */
export function Timeline(props: {
  projectId: string;
  timeline: TimelineData;
  axis: Axis;
  turns: readonly Turn[];
  player: Player;
}) {
  const { axis, player } = props;
  const [zoom, setZoom] = useState(1);
  return (
    <Stack gap="xs">
      <PlayerControls player={player} axis={axis} zoom={zoom} onZoom={setZoom} />
      <Lanes {...props} zoom={zoom} />
    </Stack>
  );
}

function Lanes({
  projectId,
  timeline,
  axis,
  turns,
  player,
  zoom,
}: {
  projectId: string;
  timeline: TimelineData;
  axis: Axis;
  turns: readonly Turn[];
  player: Player;
  zoom: number;
}) {
  const lanes = useRef<HTMLDivElement>(null);
  const hover = useRef<HTMLDivElement>(null);
  const media = useMediaFigures(timeline, axis);
  const span = recordingSpan(timeline, axis);
  const placeOf = ({ clientX }: MouseEvent) => {
    const { left = 0, width = 1 } = lanes.current?.getBoundingClientRect() ?? {};
    return (clientX - left) / width;
  };
  const { call } = timeline;
  const isRecording = call?.recording?.status === 'recording';
  const areLanesShown = useDeferredValue(true, false);
  const answeredMs = call?.answeredAt ? axis.at(call.answeredAt) : axis.lengthMs;
  return (
    <div className={classes.frame}>
      <LaneNames media={media} hasRecording={span !== undefined} isRecording={isRecording} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard. */}
      <section className={classes.scroll} aria-label={texts.lanes} tabIndex={0}>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the slider above does the same by the keyboard. */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: as above. */}
        <div
          ref={lanes}
          className={classes.lanes}
          style={{ width: `min(${zoom * 100}%, ${MAX_WIDTH_PX}px)` }}
          onClick={(event) => player.playFrom(placeOf(event) * axis.lengthMs)}
          onMouseMove={(event) => {
            if (hover.current) hover.current.style.left = `${placeOf(event) * 100}%`;
          }}
        >
          <div className={classes.lane} style={{ height: WAVEFORM_HEIGHT }}>
            {call && (
              <div className={classes.ringing} style={{ width: `${(100 * answeredMs) / axis.lengthMs}%` }} />
            )}
            {span && call && (
              <div
                className={classes.waveform}
                style={{
                  left: `${(100 * span.fromMs) / axis.lengthMs}%`,
                  width: `${(100 * span.lengthMs) / axis.lengthMs}%`,
                }}
              >
                <Suspense>
                  <Waveform projectId={projectId} callId={call.id} player={player} lengthMs={span.lengthMs} />
                </Suspense>
              </div>
            )}
          </div>
          {areLanesShown ? (
            <LaneStack timeline={timeline} axis={axis} turns={turns} media={media} />
          ) : (
            <div style={{ height: 5 * LANE_HEIGHT + media.length * PLOT_HEIGHT }} />
          )}
          <AxisTicks axis={axis} zoom={zoom} />
          <div ref={hover} className={classes.hover} />
          <Playhead player={player} axis={axis} />
        </div>
      </section>
    </div>
  );
}

/** Thousands of elements in a long call: after what is seen first, and only when they have changed. */
const LaneStack = memo(function LaneStack({
  timeline,
  axis,
  turns,
  media,
}: {
  timeline: TimelineData;
  axis: Axis;
  turns: readonly Turn[];
  media: readonly MediaFigure[];
}) {
  return (
    <>
      <div className={classes.lane} style={{ height: LANE_HEIGHT }}>
        <WordsLane timeline={timeline} axis={axis} />
      </div>
      <div className={classes.lane} style={{ height: LANE_HEIGHT }}>
        <PathLane timeline={timeline} axis={axis} />
      </div>
      <div className={classes.lane} style={{ height: LANE_HEIGHT }}>
        <EventsLane timeline={timeline} axis={axis} name={eventName} />
      </div>
      <div className={classes.lane} style={{ height: LANE_HEIGHT }}>
        <LatencyLane turns={turns} axis={axis} />
      </div>
      {media.map(({ name, times, values, range, color }) => (
        <div key={name} className={classes.lane} style={{ height: PLOT_HEIGHT }}>
          <MediaPlot
            times={times}
            values={values}
            range={range}
            color={color}
            lengthMs={axis.lengthMs}
            height={PLOT_HEIGHT - 1}
          />
        </div>
      ))}
      <div className={classes.lane} style={{ height: LANE_HEIGHT }}>
        <WebhooksLane timeline={timeline} axis={axis} />
      </div>
    </>
  );
});

function LaneNames({
  media,
  hasRecording,
  isRecording,
}: {
  media: readonly MediaFigure[];
  hasRecording: boolean;
  isRecording: boolean;
}) {
  const lane = (name: string) => <div style={{ height: LANE_HEIGHT }}>{name}</div>;
  return (
    <div className={classes.names}>
      <div style={{ height: WAVEFORM_HEIGHT, justifyContent: 'space-around' }}>
        {hasRecording ? (
          <>
            <span>{texts.caller}</span>
            <span>{texts.agent}</span>
          </>
        ) : (
          <span className={classes.wrapped}>{isRecording ? texts.recordingRuns : texts.noRecording}</span>
        )}
      </div>
      {lane(texts.words)}
      {lane(texts.path)}
      {lane(texts.events)}
      {lane(texts.latency)}
      {media.map(({ name, worst }) => (
        <div key={name} style={{ height: PLOT_HEIGHT }}>
          <span>{name}</span>
          <Box component="span" ff="monospace">
            {worst}
          </Box>
        </div>
      ))}
      {lane(texts.webhooks)}
    </div>
  );
}

function AxisTicks({ axis, zoom }: { axis: Axis; zoom: number }) {
  const wantedS = axis.lengthMs / 1000 / (TICKS * zoom);
  const stepMs = 1000 * (STEPS_S.find((step) => step >= wantedS) ?? 3600);
  const count = Math.floor(axis.lengthMs / stepMs);
  return (
    <div className={classes.axis}>
      {Array.from({ length: count + 1 }, (_, index) => index * stepMs)
        .filter((atMs) => atMs < axis.lengthMs * 0.97)
        .map((atMs) => (
          <span key={atMs} className={classes.tick} style={{ left: `${(100 * atMs) / axis.lengthMs}%` }}>
            {formatDuration(atMs)}
          </span>
        ))}
    </div>
  );
}

/** Moves without rendering: it follows each frame of the screen. */
function Playhead({ player, axis }: { player: Player; axis: Axis }) {
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const move = () => {
      if (line.current) line.current.style.left = `${(100 * player.positionMs) / axis.lengthMs}%`;
    };
    move();
    return player.subscribe(move);
  }, [player, axis]);
  return <div ref={line} className={classes.playhead} />;
}
