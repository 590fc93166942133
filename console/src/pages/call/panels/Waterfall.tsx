import { Group, Stack, Text, UnstyledButton, VisuallyHidden } from '@mantine/core';

import { formatDuration, formatLatency } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';
import { PARTS } from '../colors.ts';
import { LATENCY_PARTS, type Turn } from '../model/turns.ts';
import type { Player } from '../Player.ts';
import { partTexts } from '../partTexts.ts';
import classes from './panels.module.css';

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
        {turns.map((turn, index) => (
          <UnstyledButton
            // biome-ignore lint/suspicious/noArrayIndexKey: turns are only added
            key={index}
            className={classes.row}
            onClick={() => player.playFrom(turn.fromMs)}
            title={described(turn)}
          >
            <span className={classes.time}>{formatDuration(turn.fromMs)}</span>
            <div>
              <Group gap="xs" wrap="nowrap">
                <div className={classes.bar} style={{ width: `${(80 * turn.latencyMs) / longestMs}%` }}>
                  {turn.parts.map(({ part, ms }) => (
                    <div key={part} style={{ flexGrow: ms, flexBasis: 0, background: PARTS[part] }} />
                  ))}
                </div>
                <Text size="xs" fw={600} style={{ whiteSpace: 'nowrap' }}>
                  {formatLatency(turn.latencyMs)}
                </Text>
              </Group>
              <VisuallyHidden>{described(turn)}</VisuallyHidden>
              <Text size="xs" c="dimmed" truncate>
                {turn.message.content}
              </Text>
            </div>
          </UnstyledButton>
        ))}
      </div>
    </Stack>
  );
}

function described({ parts, latencyMs }: Turn): string {
  const each = parts.map(({ part, ms }) => `${partTexts[part]} ${formatLatency(ms)}`);
  return `${formatLatency(latencyMs)} = ${each.join(' + ')}`;
}
