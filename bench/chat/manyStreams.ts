import { table } from '../../src/cli/table.ts';
import { percentile } from '../support/statistics.ts';
import { inParallel, listen, type Target } from './client.ts';
import { wishText } from './wish.ts';

const STREAMS = 200;
const TOKENS = 100;
const GAP_MS = 40;

/** Two hundred streams at once: how evenly their tokens come, beside those of the upstream itself. */
export async function measureManyStreams(
  targets: readonly { readonly title: string; readonly target: Target }[],
): Promise<void> {
  const rows: string[][] = [];
  for (const { title, target } of targets) {
    const gaps: number[] = [];
    const firsts: number[] = [];
    await inParallel(STREAMS, STREAMS, async (index) => {
      const words = wishText({ tokens: TOKENS, gapMs: GAP_MS });
      const heard = await listen(target, words, { headers: { 'x-session-id': `stream-${index}` } });
      if (heard.tokens !== TOKENS) throw new Error(`${heard.tokens} of ${TOKENS} tokens came`);
      gaps.push(...heard.gapsMs);
      firsts.push(heard.firstTokenMs);
    });
    const figures = [
      percentile(gaps, 0.5),
      percentile(gaps, 0.99),
      Math.max(...gaps),
      percentile(firsts, 0.95),
    ];
    rows.push([title, ...figures.map((value) => value.toFixed(0))]);
  }
  console.log(
    `${STREAMS} streams at once, a token every ${GAP_MS} ms; a stall would show as a largest gap far beyond the upstream’s own.`,
  );
  console.log(table([['milliseconds', 'gap p50', 'p99', 'largest', 'first token p95'], ...rows]));
}
