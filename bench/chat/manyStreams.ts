import { table } from '../../src/cli/table.ts';
import { percentile } from '../support/statistics.ts';
import { inParallel, listen, type Target } from './client.ts';
import { tokenRequestText } from './tokenRequest.ts';

const STREAMS = 200;
const TOKENS = 100;
const GAP_MS = 40;
/** Tokens of each stream: enough that all streams run at once. */
const BEGINNING_GAPS = 50;

/** Two hundred concurrent streams: how evenly their tokens arrive, beside those of the upstream itself. */
export async function measureManyStreams(
  targets: readonly { readonly title: string; readonly target: Target }[],
): Promise<void> {
  const rows: string[][] = [];
  for (const { title, target } of targets) {
    const gaps: number[] = [];
    const earlyGaps: number[] = [];
    const firsts: number[] = [];
    await inParallel(STREAMS, STREAMS, async (index) => {
      const words = tokenRequestText({ tokens: TOKENS, gapMs: GAP_MS });
      const heard = await listen(target, words, { headers: { 'x-session-id': `stream-${index}` } });
      if (heard.tokens !== TOKENS) throw new Error(`${heard.tokens} of ${TOKENS} tokens came`);
      earlyGaps.push(...heard.gapsMs.slice(0, BEGINNING_GAPS));
      gaps.push(...heard.gapsMs.slice(BEGINNING_GAPS));
      firsts.push(heard.firstTokenMs);
    });
    const spread = (list: readonly number[]) => [
      percentile(list, 0.5),
      percentile(list, 0.99),
      Math.max(...list),
    ];
    const figures = [percentile(firsts, 0.95), ...spread(earlyGaps), ...spread(gaps)];
    rows.push([title, ...figures.map((value) => value.toFixed(0))]);
  }
  console.log(
    `${STREAMS} streams at once, a token every ${GAP_MS} ms; a stall would show as a largest gap far beyond the upstream’s own. A beginning is the first ${BEGINNING_GAPS} gaps of a stream, while others begin beside it.`,
  );
  const titles = [
    'first token p95',
    'gap at the beginning: p50',
    'p99',
    'largest',
    'later: p50',
    'p99',
    'largest',
  ];
  console.log(table([['milliseconds', ...titles], ...rows]));
}
