import { useMemo } from 'react';

import { formatNumber } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';
import type { Axis, Timeline } from '../model/callTimeline.ts';

const WORST_MOS = 1;
const BEST_MOS = 4.5;

const texts = textsIn({
  en: { loss: 'Loss', jitter: 'Jitter', mos: 'MOS' },
  'zh-TW': { loss: '遺失', jitter: '抖動', mos: 'MOS' },
});

/** One figure of the audio over time. */
export interface MediaFigure {
  readonly name: string;
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
  readonly range: readonly [number, number];
  readonly color: string;
  readonly worst: string;
}

/** Loss, jitter and MOS, as far as they are known. */
export function useMediaFigures({ mediaSamples }: Timeline, axis: Axis): readonly MediaFigure[] {
  return useMemo(() => {
    const samples = mediaSamples?.samples ?? [];
    if (samples.length === 0) return [];
    const times = samples.map(({ at }) => axis.at(at));
    const loss = samples.map(
      ({ packetsReceived, packetsLost }) => (100 * packetsLost) / Math.max(1, packetsReceived + packetsLost),
    );
    const jitter = samples.map(({ jitterMs }) => jitterMs);
    const mos = samples.map((one) => one.mos);
    const known = mos.filter((one) => one !== null);
    const [most, longest] = [Math.max(...loss), Math.max(...jitter)];
    return [
      {
        name: texts.loss,
        times,
        values: loss,
        range: [0, Math.max(5, most)],
        color: '#c92a2a',
        worst: `≤ ${formatNumber(most)} %`,
      },
      {
        name: texts.jitter,
        times,
        values: jitter,
        range: [0, Math.max(20, longest)],
        color: '#d9480f',
        worst: `≤ ${formatNumber(longest)} ms`,
      },
      {
        name: texts.mos,
        times,
        values: mos,
        range: [WORST_MOS, BEST_MOS],
        color: '#2b8a3e',
        worst: known.length > 0 ? `≥ ${formatNumber(Math.min(...known))}` : '',
      },
    ];
  }, [mediaSamples, axis]);
}
