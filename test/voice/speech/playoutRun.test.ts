import { expect, test } from 'vitest';
import { PlayoutRun } from '../../../src/voice/speech/playoutRun.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { createSimulatedStream } from '../support/simulatedStream.ts';

const FRAME = 160;
/** Where the run starts in its answer. */
const FROM = 1000;

/** A run of three frames whose start is reported by the peer, or not. */
async function threeFrames({ isMute = false }: { isMute?: boolean } = {}) {
  const stream = createSimulatedStream({ clock: createSimulatedClock(), isMute });
  let marks = 0;
  const run = new PlayoutRun({ stream, nextMark: () => `m${++marks}` }, FROM);
  stream.events.on('mark', (mark) => run.onMark(mark));
  run.send(new Int16Array(3 * FRAME).fill(1000));
  const at = (playedSamples: number) => ({
    playedSamples,
    receivedSamples: stream.receivedSamples,
    bufferDelayMs: 0,
  });
  return { stream, run, at };
}

test('Nothing counts as heard before its first frame was played', async () => {
  const { run, at } = await threeFrames();
  expect([run.hasStarted, run.heardTo, run.heardToAt(at(FRAME))]).toEqual([false, FROM, FROM]);
});

test('The heard position follows the time, and ends where the sent samples end', async () => {
  const { run, stream } = await threeFrames();
  const heard: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    await stream.advance(20);
    heard.push((run.heardTo - FROM) / FRAME);
  }
  expect(heard).toEqual([1, 2, 3, 3, 3]);
  expect(run.sentTo).toBe(FROM + 3 * FRAME);
});

test('A peer that claims to have played more than was sent, or less than nothing, is not believed', async () => {
  const { run, stream, at } = await threeFrames();
  await stream.advance(40);
  const played = [0, 1.5, 3, 50, -50].map((frames) => (run.heardToAt(at(frames * FRAME)) - FROM) / FRAME);
  expect(played).toEqual([0, 1.5, 3, 3, 0]);
});

test('Of a peer that reports nothing, the time tells what was heard, up to what was sent', async () => {
  const { run, stream, at } = await threeFrames({ isMute: true });
  await stream.advance(20);
  expect(run.assumeStartAfter(FRAME)).toBeUndefined();
  await stream.advance(20);
  expect(run.assumeStartAfter(FRAME)).toEqual({ playedSamples: 0, receivedSamples: FRAME, bufferDelayMs: 0 });
  expect(run.heardToAt(at(0))).toBe(FROM + 2 * FRAME);
  await stream.advance(1000);
  expect([run.heardTo, run.heardToAt(at(0))]).toEqual([FROM + 3 * FRAME, FROM + 3 * FRAME]);
});

test('Samples that are sent after a gap are heard from then on', async () => {
  const { run, stream } = await threeFrames();
  await stream.advance(200);
  run.send(new Int16Array(2 * FRAME).fill(1000));
  expect(run.heardTo).toBe(FROM + 3 * FRAME);
  await stream.advance(20);
  expect(run.heardTo).toBe(FROM + 4 * FRAME);
});

test('While the peer plays nothing on hold, nothing is heard and no report is overdue', async () => {
  const { run, stream } = await threeFrames();
  const hold = async (frames: number) => {
    for (let n = 0; n < frames; n += 1) {
      await stream.advance(20);
      run.shiftByFrame();
    }
  };
  await stream.advance(20);
  await hold(5);
  expect(run.heardTo).toBe(FROM + FRAME);
  run.markEnd();
  await hold(5);
  expect([run.heardTo, run.isOverdueBy(0)]).toEqual([FROM + FRAME, false]);
  const { run: muted, stream: mute } = await threeFrames({ isMute: true });
  for (let n = 0; n < 5; n += 1) {
    await mute.advance(20);
    muted.shiftByFrame();
  }
  expect(muted.assumeStartAfter(FRAME)).toBeUndefined();
});

test('A marked end is overdue once its samples were played and the peer had time to say so', async () => {
  const { run, stream } = await threeFrames({ isMute: true });
  await stream.advance(40);
  run.assumeStartAfter(FRAME);
  expect([run.heardTo, run.isOverdueBy(-FRAME)]).toEqual([FROM + 2 * FRAME, false]);
  run.markEnd();
  await stream.advance(40);
  expect(run.isOverdueBy(FRAME)).toBe(false);
  await stream.advance(20);
  expect(run.isOverdueBy(FRAME)).toBe(true);
});

test('A run that is sent later is assumed to start then', async () => {
  const stream = createSimulatedStream({ clock: createSimulatedClock(), isMute: true, receivedBefore: 800 });
  const run = new PlayoutRun({ stream, nextMark: () => 'm' }, FROM);
  await stream.advance(200);
  expect(run.assumeStartAfter(0)).toBeUndefined();
  run.send(new Int16Array(FRAME));
  expect(run.assumeStartAfter(0)).toBeUndefined();
  await stream.advance(20);
  expect(run.assumeStartAfter(0)).toMatchObject({ receivedSamples: 800 + 11 * FRAME });
});

test('A run shorter than a frame is heard to its end', async () => {
  const stream = createSimulatedStream({ clock: createSimulatedClock() });
  const run = new PlayoutRun({ stream, nextMark: () => 'm' }, FROM);
  stream.events.on('mark', (mark) => run.onMark(mark));
  run.send(new Int16Array(FRAME / 2));
  await stream.advance(20);
  const position = { playedSamples: FRAME / 2, receivedSamples: FRAME, bufferDelayMs: 0 };
  expect([run.heardTo, run.heardToAt(position)]).toEqual([FROM + FRAME / 2, FROM + FRAME / 2]);
});
