/**
 * How soon, and how surely, the end of a caller's turn is detected by our own signals: the voice's activity and interim
 * transcripts, without turn events of the recognizer.
 *
 *   npm run bench:turns [-- --errors --list]
 *
 * The utterances of `bench/turns/` in three languages, spoken by Debian's espeak-ng to voice sessions on a simulated clock,
 * whose model and voice have the latencies of bench:speech. A tenth is held out: no parameter was chosen by it. `--errors`
 * lists the false ends, `--list` the utterances. Exits with 1 when a part misses its aim.
 */
import { parseArgs } from 'node:util';
import { createWebrtcVad } from '../src/vendors/fvad/webrtc.ts';
import { type Played, play } from './turns/play.ts';
import { confusionTable, errorLines, kindsTable, missesAim, partsTable } from './turns/report.ts';
import { utterances } from './turns/set.ts';

const { values: options } = parseArgs({
  options: {
    errors: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});
const all = utterances();
if (options.list) {
  for (const { id, language, kind, isHeldOut, segments } of all) {
    const text = segments.map(
      ({ text, pauseAfterMs }) => text + (pauseAfterMs > 0 ? ` [${pauseAfterMs}]` : ''),
    );
    console.log([id, language, kind, isHeldOut ? 'held out' : '', text.join(' ')].join('\t'));
  }
} else await measure();

async function measure(): Promise<void> {
  const voiceActivity = await createWebrtcVad();
  const played: Played[] = [];
  for (const utterance of all) played.push(await play(utterance, voiceActivity));
  const tuning = played.filter(({ utterance }) => !utterance.isHeldOut);
  const heldOut = played.filter(({ utterance }) => utterance.isHeldOut);
  if (options.errors) for (const line of tuning.flatMap(errorLines)) console.log(line);
  console.log(
    'Aim: false ends under 3 %; the end is detected 350 ms after the last sound (p50), 900 ms (p95).',
  );
  console.log(partsTable({ tuning, 'held out': heldOut }));
  console.log(confusionTable({ tuning, 'held out': heldOut }));
  console.log(kindsTable(tuning));
  if (missesAim(tuning) || missesAim(heldOut)) process.exitCode = 1;
}
