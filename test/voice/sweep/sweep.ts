import type { VoiceReport } from '../../../src/voice/voiceSession.ts';
import type { SimulatedClock } from '../../support/simulatedClock.ts';
import { DISTURBANCES, type Moment } from './disturbances.ts';
import { judgeAgent, judgeCaller, judgeReport } from './judge.ts';
import type { Scene } from './scenes.ts';
import { type SetStage, setStage } from './stage.ts';

const FRAME_MS = 20;
/** A scene continues this long after its last act. */
const AFTERMATH_MS = 3000;
/** An act starts without its cue after this. */
const CUE_TIMEOUT_MS = 15_000;
const PAUSE_MS = 300;
/** A session reports within this after the call: it may wait for a last transcript and the database. */
const REPORT_TIMEOUT_MS = 10_000;
/** A lost stream is closed first. */
const LOST_STREAM_MS = 31_000;
/** Pending writes complete within this after the database is up. */
const WRITE_TIMEOUT_MS = 6000;

/** With these, words may be lost. */
const LOSES_WORDS: ReadonlySet<string> = new Set([
  'the recognizer fails',
  'the recognizer hangs',
  'the recognizer returns nothing',
]);

export interface Played {
  readonly kind: string;
  readonly moment: Moment;
}

/** Descriptions of what went wrong. */
type Problems = readonly string[];

export interface SweepResult {
  readonly problems: Problems;
  readonly transcript: readonly string[];
  readonly frames: number;
}

/** Plays a scene with these disturbances and checks its invariants. */
export async function play(scene: Scene, played: readonly Played[]): Promise<SweepResult> {
  const stage = setStage(scene);
  const { call, watch } = stage;
  const { stream, clock } = call;
  const rejected: unknown[] = [];
  const onRejection = (reason: unknown) => rejected.push(reason);
  process.on('unhandledRejection', onRejection);
  let report: VoiceReport | undefined;
  call.report.then(
    (value) => {
      report = value;
    },
    (error: unknown) => rejected.push(error),
  );
  const frames = await playFrames(scene, stage, played);
  if (!stage.isLost() && !stream.isClosed()) stage.disturber.hangUp();
  const limitMs = stage.isLost() ? LOST_STREAM_MS + REPORT_TIMEOUT_MS : REPORT_TIMEOUT_MS;
  for (let ms = 0; report === undefined && ms < limitMs; ms += FRAME_MS) await pass(clock);
  for (let ms = 0; clock.pendingTimers() > 0 && ms < WRITE_TIMEOUT_MS; ms += FRAME_MS) await pass(clock);
  process.off('unhandledRejection', onRejection);
  watch.close();
  const problems = [
    ...watch.problems,
    ...(report === undefined ? [`no report within ${limitMs} ms`] : []),
    ...rejected.map((reason) => `rejected: ${reason}`),
    ...(clock.pendingTimers() > 0 ? [`${clock.pendingTimers()} timers left`] : []),
    ...(stream.listeners() > 0 ? [`${stream.listeners()} listeners left`] : []),
    ...judgeCaller(call, stage.caller, {
      isRecognized: !played.some(({ kind }) => LOSES_WORDS.has(kind)) && report?.answeredBy !== 'machine',
      hadAgent: watch.hadAgent,
    }),
    ...judgeAgent(call, stage.voice),
    ...(report ? judgeReport(call, report) : []),
  ];
  return { problems, transcript: call.transcript(), frames };
}

/** @returns The number of frames. */
async function playFrames(scene: Scene, stage: SetStage, played: readonly Played[]): Promise<number> {
  const { stream } = stage.call;
  const actors = createActors(scene, stage);
  let frame = 0;
  for (; !stream.isClosed() && !stage.isLost() && !actors.areDone(); frame += 1) {
    const passing = stream.advance(FRAME_MS);
    for (const { kind, moment } of played.filter((one) => one.moment.frame === frame)) {
      await turns(moment.offset);
      DISTURBANCES[kind]?.(stage.disturber);
    }
    await passing;
    stage.watch.onFrame();
    actors.frame();
    stage.runDue();
  }
  return frame;
}

async function pass(clock: SimulatedClock): Promise<void> {
  clock.advance(FRAME_MS);
  for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve));
}

/** @param offset - See {@link Moment}. */
async function turns(offset: number): Promise<void> {
  for (let n = 0; n < Math.min(offset, 3); n++) await Promise.resolve();
  for (let n = 3; n < offset; n++) await new Promise((resolve) => setImmediate(resolve));
}

/** Plays the caller's acts at their cues, and the peer's side of transfers and hang-ups. */
function createActors(scene: Scene, { call, disturber }: SetStage) {
  const acts = [...scene.acts];
  let sinceMs = 0;
  let hasAgentSpoken = false;
  let agentMs = 0;
  let silenceMs = 0;
  let commands = 0;
  const nowMs = () => call.clock.monotonicMs();
  const isCued = (): boolean => {
    const cue = acts[0]?.[0] ?? AFTERMATH_MS;
    if (typeof cue === 'number') return nowMs() - sinceMs >= cue;
    if (nowMs() - sinceMs >= CUE_TIMEOUT_MS) return true;
    return cue === 'over the agent' ? agentMs >= 700 : hasAgentSpoken && silenceMs >= PAUSE_MS;
  };
  const answer = () => {
    for (const command of call.stream.commands.slice(commands)) {
      commands += 1;
      if (command.kind === 'hangup') disturber.schedule(100, disturber.hangUp);
      if (command.kind !== 'transfer') continue;
      const { to } = command;
      disturber.schedule(200, () => call.stream.reportTransfer({ status: 'begun', to }));
      if (scene.transfer === 'works') disturber.schedule(2000, disturber.hangUp);
      else
        disturber.schedule(2000, () => call.stream.reportTransfer({ status: 'failed', to, reason: 'busy' }));
    }
  };
  return {
    areDone: () => acts.length === 0 && nowMs() - sinceMs >= AFTERMATH_MS,
    frame() {
      const isAgentSpeaking = call.isAgentSpeaking();
      if (isAgentSpeaking) agentMs += FRAME_MS;
      hasAgentSpoken ||= isAgentSpeaking;
      silenceMs = isAgentSpeaking ? 0 : silenceMs + FRAME_MS;
      answer();
      if (acts.length === 0 || !isCued()) return;
      acts.shift()?.[1](disturber);
      sinceMs = nowMs();
      hasAgentSpoken = false;
      agentMs = 0;
    },
  };
}
