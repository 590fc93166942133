import { Tooltip } from '@mantine/core';
import { type PointerEvent, useState } from 'react';

import { formatLatency } from '../../formats.ts';
import type { Turn } from './model/turns.ts';
import { partTexts } from './partTexts.ts';

/**
 * One tooltip for many turns, which shows the parts of the one that the mouse is over, or that was touched.
 *
 * @returns The tooltip, and the handlers of a turn's element.
 */
export function useTurnParts() {
  const [shown, setShown] = useState<{ readonly turn: Turn; readonly element: HTMLElement }>();
  const tooltip = shown && (
    <Tooltip
      opened
      target={shown.element}
      label={shown.turn.parts.map(({ part, ms }) => (
        <div key={part}>
          {partTexts[part]} {formatLatency(ms)}
        </div>
      ))}
    />
  );
  const handlersOf = (turn: Turn) => ({
    onPointerEnter: ({ currentTarget }: PointerEvent<HTMLElement>) =>
      setShown({ turn, element: currentTarget }),
    // A finger leaves when it is lifted; the parts stay until something else is touched.
    onPointerLeave: ({ pointerType }: PointerEvent<HTMLElement>) => {
      if (pointerType === 'mouse') setShown(undefined);
    },
    onBlur: () => setShown(undefined),
  });
  return { tooltip, handlersOf };
}
