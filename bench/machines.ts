/**
 * How surely people, answering machines, call screening and menus are told apart, and that no one but a machine is hung up
 * on.
 *
 *   npm run bench:machines [-- --local --errors --list]
 *
 * The 200 calls of `bench/machines/`, answered by synthetic voices on a simulated clock, with words from a scripted
 * recognizer that streams. `--local` has the offline recognizer hear a third of the English calls. A tenth is held out: no phrase and
 * no length was chosen by it. `--errors` lists what was misjudged, `--list` the calls. Exits with 1 when a part misses its
 * aim; of the offline recognizer only the second half of it counts.
 */
import { parseArgs } from 'node:util';
import { createWebrtcVad } from '../src/vendors/fvad/webrtc.ts';
import { createLocalSpeechToText } from '../src/vendors/local/speechToText.ts';
import type { SimulatedClock } from '../test/support/simulatedClock.ts';
import { localHearing } from './machines/localHearing.ts';
import { type Hearing, type Played, play } from './machines/play.ts';
import {
  confusionTable,
  errorLine,
  isRight,
  isWronglyHungUp,
  missesAim,
  partsTable,
} from './machines/report.ts';
import { type AnsweredCall, answeredCalls } from './machines/set.ts';
import { wordRecognizer } from './turns/recognizer.ts';

/** Of streaming recognizers, by their makers. */
const DELAYS = { interimMs: 400, finalMs: 300 };

/** Real recognition takes real time: it hears one English call of so many. */
const LOCAL_EVERY = 3;

const { values: options } = parseArgs({
  options: {
    local: { type: 'boolean', default: false },
    errors: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});
const all = answeredCalls();
if (options.list) for (const call of all) console.log(lineOf(call));
else if (options.local) await measureLocal();
else await measure();

async function measure(): Promise<void> {
  const played = await playAll(all, (clock) => {
    const recognizer = wordRecognizer(clock, DELAYS);
    return { recognizer, hear: recognizer.hear };
  });
  const tuning = played.filter(({ call }) => !call.isHeldOut);
  const heldOut = played.filter(({ call }) => call.isHeldOut);
  report('Words of a recognizer that streams', { tuning, 'held out': heldOut });
  if (missesAim(tuning) || missesAim(heldOut)) process.exitCode = 1;
}

async function measureLocal(): Promise<void> {
  const local = createLocalSpeechToText({ searchPath: process.env.PATH ?? '' });
  try {
    const english = all.filter(({ language }) => language === 'en');
    const some = english.filter((_, index) => index % LOCAL_EVERY === 0);
    const played = await playAll(some, (clock) => localHearing(local, clock));
    report('Words of the offline recognizer, in English', { all: played });
    if (played.some(isWronglyHungUp)) process.exitCode = 1;
  } finally {
    await local.close();
  }
}

async function playAll(
  calls: readonly AnsweredCall[],
  open: (clock: SimulatedClock) => Hearing,
): Promise<Played[]> {
  const voiceActivity = await createWebrtcVad();
  const played: Played[] = [];
  for (const call of calls) played.push(await play(call, voiceActivity, open));
  return played;
}

function report(title: string, parts: Readonly<Record<string, readonly Played[]>>): void {
  const played = Object.values(parts).flat();
  if (options.errors)
    for (const one of played) if (!isRight(one) || isWronglyHungUp(one)) console.log(errorLine(one));
  console.log(`${title}. Aim: 95 % right, none but machines hung up on.`);
  console.log(partsTable(parts));
  console.log(confusionTable(played));
  const latest = Math.max(...played.map(({ greetingMs }) => greetingMs));
  console.log(`The agent's first sound came ${latest.toFixed(0)} ms after the answer at the latest.`);
}

function lineOf({ id, kind, language, voice, isHeldOut, segments, beep, noise }: AnsweredCall): string {
  const said = segments.map(({ text, pauseAfterMs }) => `${text} [${pauseAfterMs}]`).join(' ');
  const tone = beep ? `beep ${beep.hz} Hz` : '';
  return [id, kind, language, voice, isHeldOut ? 'held out' : '', said, tone, `${noise.snrDb} dB`].join('\t');
}
