import { table } from '../../src/cli/table.ts';
import { slope } from '../support/statistics.ts';
import { inParallel, listen } from './client.ts';
import type { BenchProject } from './project.ts';
import type { Server } from './servers.ts';
import { tokenRequestText } from './tokenRequest.ts';

const AT_ONCE = 8;
const TURNS_A_SESSION = 5;
const SAMPLES = 10;
const MEBIBYTE = 1_048_576;

/** Memory over many short turns of many sessions. */
export async function measureMemory(server: Server, project: BenchProject, turns: number): Promise<void> {
  const words = tokenRequestText({ tokens: 8, gapMs: 0 });
  const turnsASample = Math.max(TURNS_A_SESSION, Math.round(turns / SAMPLES));
  const samples: { turns: number; heapBytes: number; rssBytes: number }[] = [];
  for (let sample = 0; sample <= SAMPLES; sample += 1) {
    const { heapBytes, rssBytes } = await server.figures();
    samples.push({ turns: sample * turnsASample, heapBytes, rssBytes });
    if (sample === SAMPLES) break;
    await inParallel(Math.ceil(turnsASample / TURNS_A_SESSION), AT_ONCE, async (index) => {
      const session = `memory-${sample}-${index}`;
      for (let turn = 0; turn < TURNS_A_SESSION; turn += 1) {
        await listen(project, words, { headers: { 'x-session-id': session } });
      }
      await project.call('DELETE', '/sessions', { session_id: session });
    });
  }
  console.log(
    `Memory of the serving process over ${SAMPLES * turnsASample} turns, after a collection; aim: flat.`,
  );
  console.log(
    table([
      ['turns', 'heap MiB', 'rss MiB'],
      ...samples.map(({ turns: done, heapBytes, rssBytes }) => [
        String(done),
        (heapBytes / MEBIBYTE).toFixed(1),
        (rssBytes / MEBIBYTE).toFixed(1),
      ]),
    ]),
  );
  // The first half fills caches and compiles code.
  const later = samples.slice(SAMPLES / 2);
  const perTurn = (pick: (sample: (typeof samples)[number]) => number) =>
    slope(later.map((sample) => ({ x: sample.turns, y: pick(sample) }))).toFixed(1);
  console.log(
    `Slope over the second half: heap ${perTurn(({ heapBytes }) => heapBytes)} bytes a turn, rss ${perTurn(({ rssBytes }) => rssBytes)} bytes a turn.\n`,
  );
}
