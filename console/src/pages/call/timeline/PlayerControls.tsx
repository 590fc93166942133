import { ActionIcon, Group, Slider, Text } from '@mantine/core';
import { PauseIcon, PlayIcon, ZoomInIcon, ZoomOutIcon } from '@radix-ui/react-icons';

import { formatDuration } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';
import type { Axis } from '../model/callTimeline.ts';
import { type Player, useIsPlaying, usePosition } from '../Player.ts';

const ZOOMS = [1, 2, 5, 10, 20];

const texts = textsIn({
  en: { position: 'Position', play: 'Play', pause: 'Pause', zoomIn: 'Zoom in', zoomOut: 'Zoom out' },
  'zh-TW': { position: '位置', play: '播放', pause: '暫停', zoomIn: '放大', zoomOut: '縮小' },
});

/** Plays the recording, and moves over the time line by the keyboard too. */
export function PlayerControls({
  player,
  axis,
  zoom,
  onZoom,
}: {
  player: Player;
  axis: Axis;
  zoom: number;
  onZoom: (zoom: number) => void;
}) {
  const positionMs = usePosition(player);
  const isPlaying = useIsPlaying(player);
  const level = ZOOMS.indexOf(zoom);
  return (
    <Group wrap="nowrap" gap="sm">
      <ActionIcon
        size="lg"
        radius="xl"
        disabled={!player.audio}
        onClick={() => player.toggle()}
        aria-label={isPlaying ? texts.pause : texts.play}
      >
        {isPlaying ? <PauseIcon /> : <PlayIcon />}
      </ActionIcon>
      <Text size="sm" ff="monospace" miw={92} style={{ whiteSpace: 'nowrap' }}>
        {formatDuration(positionMs)} / {formatDuration(axis.lengthMs)}
      </Text>
      <Slider
        flex={1}
        size="sm"
        min={0}
        max={axis.lengthMs}
        step={1000}
        value={positionMs}
        label={(value) => formatDuration(value)}
        onChange={(value) => player.seek(value)}
        thumbLabel={texts.position}
      />
      <ActionIcon
        variant="default"
        disabled={level <= 0}
        onClick={() => onZoom(ZOOMS[level - 1] ?? 1)}
        aria-label={texts.zoomOut}
      >
        <ZoomOutIcon />
      </ActionIcon>
      <ActionIcon
        variant="default"
        disabled={level >= ZOOMS.length - 1}
        onClick={() => onZoom(ZOOMS[level + 1] ?? zoom)}
        aria-label={texts.zoomIn}
      >
        <ZoomInIcon />
      </ActionIcon>
    </Group>
  );
}
