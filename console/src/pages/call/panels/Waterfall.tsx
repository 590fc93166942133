import { Group, Stack, Text, VisuallyHidden } from '@mantine/core';
import { memo, useDeferredValue } from 'react';

import { formatDuration, formatLatency } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';
import { PARTS } from '../colors.ts';
import { LATENCY_PARTS, type Turn } from '../model/turns.ts';
import type { Player } from '../Player.ts';
import { partTexts } from '../partTexts.ts';
import { useTurnParts } from '../TurnParts.tsx';
import classes from './panels.module.css';

/** What is seen at once; the rest of a long call follows. */
const FIRST_ROWS = 40;

const texts = textsIn({
  en: {
    none: 'No answer has a latency yet.',
  },
  'zh-TW': {
    none: '尚無回應延遲。',
  },
});

/** Each answer's latency in its parts, all to one scale. */
export function Waterfall({ turns, player }: { turns: readonly Turn[]; player: Player }) {
  const rows = useDeferredValue(turns, turns.slice(0, FIRST_ROWS));
  const { tooltip, handlersOf } = useTurnParts();
  if (turns.length === 0) return <Text c="dimmed">{texts.none}</Text>;
  const longestMs = Math.max(...turns.map(({ latencyMs }) => latencyMs));
  const shown = LATENCY_PARTS.filter((part) =>
    turns.some(({ parts }) => parts.some((one) => one.part === part)),
  );
  return (
    <Stack gap="xs">
      <Group gap="sm">
        {shown.map((part) => (
          <Text key={part} size="xs" span>
            <span className={classes.swatch} style={{ background: PARTS[part] }} />
            {partTexts[part]}
          </Text>
        ))}
      </Group>
      <div>
        {rows.map((turn, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: turns are only added
          <div key={index} {...handlersOf(turn)}>
            <TurnRow turn={turn} longestMs={longestMs} player={player} />
          </div>
        ))}
      </div>
      {tooltip}
    </Stack>
  );
}

const TurnRow = memo(function TurnRow({
  turn,
  longestMs,
  player,
}: {
  turn: Turn;
  longestMs: number;
  player: Player;
}) {
  const { fromMs, latencyMs, parts, message } = turn;
  return (
    <button type="button" className={classes.row} onClick={() => player.playFrom(fromMs)}>
      <span className={classes.time}>{formatDuration(fromMs)}</span>
      <div>
        <div className={classes.measured}>
          <div className={classes.bar} style={{ width: `${(80 * latencyMs) / longestMs}%` }}>
            {parts.map(({ part, ms }) => (
              <div key={part} style={{ flexGrow: ms, flexBasis: 0, background: PARTS[part] }} />
            ))}
          </div>
          <b>{formatLatency(latencyMs)}</b>
        </div>
        <VisuallyHidden>{described(turn)}</VisuallyHidden>
        <div className={classes.beginning}>{message.content}</div>
      </div>
    </button>
  );
});

function described({ parts, latencyMs }: Turn): string {
  const each = parts.map(({ part, ms }) => `${partTexts[part]} ${formatLatency(ms)}`);
  return `${formatLatency(latencyMs)} = ${each.join(' + ')}`;
}
