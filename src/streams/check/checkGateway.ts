import type { StreamDialect, StreamMessage, StreamStart } from '../../dialects/dialect.ts';
import { type DialectName, findAudioDialect } from '../../dialects/index.ts';
import { shown } from '../../dialects/wire/botRules.ts';
import type { MarkReport } from '../../media/agentStream/streamClient.ts';
import { CLOSE_NORMAL } from '../transport/streamSocket.ts';
import { CheckedCall, type CheckedConnection, type Script } from './checkedCall.ts';
import { type Finding, fail, pass, skipped } from './finding.ts';
import { connectionOf } from './sockets.ts';

export interface GatewayCheck extends CheckedConnection {
  readonly dialect: DialectName;
}

/** Carriers send the start right after connecting. */
const START_TIMEOUT_MS = 5000;
/** The first tone is played to its end, the second is cleared in its middle. */
const FIRST_TONE_MS = 2000;
const SECOND_TONE_AT_MS = 3500;
const SECOND_TONE_MS = 6000;
const CLEAR_AT_MS = 5000;
const HANG_UP_AT_MS = 8000;
/** A gateway reports what it has played within some frames, and its network takes a moment. */
const MARK_TOLERANCE_MS = 250;
const MARK_TIMEOUT_MS = 1000;
const CLOSE_TIMEOUT_MS = 5000;
/** The caller's audio may be this far ahead of real time, this far behind it, and may pause this long. */
const MAX_AHEAD_MS = 1000;
const MAX_BEHIND_MS = 1500;
const MAX_GAP_MS = 1000;
const TONE_HZ = 440;
const TONE_LEVEL = 6000;
const PLAYED = 'check-played';
const CLEARED = 'check-cleared';

/** What the gateway has sent. */
interface Heard {
  /** Why it was refused, while there is none. */
  start: StreamStart | string;
  audioMs: number;
  lastAudioAtMs: number | undefined;
  maxAheadMs: number;
  maxGapMs: number;
  digits: string;
  readonly marks: Map<string, { readonly atMs: number; readonly outcome: MarkReport['outcome'] | undefined }>;
}

/** Plays a bot's side of a call of a carrier or a PBX, and tells what the gateway does wrong. Closes the connection. */
export async function checkGateway({
  dialect: name,
  socket,
  clock,
}: GatewayCheck): Promise<readonly Finding[]> {
  const dialect = findAudioDialect(name);
  const none = `no start message came within ${START_TIMEOUT_MS} ms`;
  const heard: Heard = {
    ...{ start: none, audioMs: 0, lastAudioAtMs: undefined, maxAheadMs: 0, maxGapMs: 0, digits: '' },
    marks: new Map(),
  };
  const call = new CheckedCall({ name: 'gateway', socket, clock, read });
  const server = dialect.openServer(connectionOf(socket));

  function read(message: StreamMessage, malformed: () => void): void {
    const start = typeof heard.start === 'string' ? server.readStart(message) : undefined;
    if (start !== undefined) heard.start = start;
    if (typeof start === 'object') call.start();
    // A bot would lose what comes before the start message. A greeting is allowed.
    const isEarly = start === undefined && heard.start === none;
    if (isEarly && typeof message !== 'string') return;
    const lost = () => call.addProblem('messages', `came before the start: ${shown(message)}`);
    server.read(message, {
      audio: isEarly ? lost : (samples) => addAudio(heard, samples.length, call.nowMs),
      dtmf: (digit) => {
        heard.digits += digit;
      },
      mark: (mark, report) => {
        if (mark !== PLAYED && mark !== CLEARED)
          call.addProblem('marks', `the mark "${mark}" was never sent`);
        else if (heard.marks.has(mark)) call.addProblem('marks', `the mark "${mark}" was returned twice`);
        else heard.marks.set(mark, { atMs: call.nowMs, outcome: report?.outcome });
      },
      cleared: () => undefined,
      hold: () => undefined,
      transferStatus: () => undefined,
      control: () => undefined,
      request: () => undefined,
      stopped: () => {
        call.hasHungUp ||= call.overAtMs === undefined;
        socket.close(CLOSE_NORMAL, 'the call has ended');
      },
      malformed: isEarly ? lost : malformed,
    });
  }

  function* talk(): Script {
    yield { withinMs: START_TIMEOUT_MS, isMet: () => heard.start !== none };
    if (typeof heard.start === 'string') return;
    const { sampleRateHz } = heard.start;
    server.play(tone(sampleRateHz, FIRST_TONE_MS));
    server.mark(PLAYED);
    yield { atMs: SECOND_TONE_AT_MS };
    server.play(tone(sampleRateHz, SECOND_TONE_MS));
    server.mark(CLEARED);
    yield { atMs: CLEAR_AT_MS };
    server.clear();
    yield { atMs: HANG_UP_AT_MS };
  }

  const hangUp = () => {
    if (typeof heard.start === 'string') socket.close(CLOSE_NORMAL, 'no start');
    else if (!call.hasHungUp) server.command({ kind: 'hangup' });
  };
  await call.run(talk(), { hangUp, closeTimeoutMs: CLOSE_TIMEOUT_MS });
  const { start, digits } = heard;
  const closedAfterMs = (call.end?.atMs ?? 0) - (call.overAtMs ?? 0);
  if (typeof start === 'string') return [fail('start', start)];
  return call.judge([
    pass('start', `${start.sampleRateHz} Hz, ${parametersOf(start)}`),
    pass('messages', 'all can be read'),
    heard.audioMs === 0
      ? fail('audio', 'the gateway sent none')
      : pass('audio', `${Math.round(heard.audioMs)} ms of the caller received`),
    pacing(heard),
    playedMark(heard, dialect, call),
    clearedMark(heard, dialect, call),
    digits === '' ? skipped('keys', 'none was pressed') : pass('keys', `${digits} was pressed`),
    call.hungUp('the bot hung up', `closed ${closedAfterMs} ms after the bot hung up`),
    call.closing(),
  ]);
}

/** Names the custom parameters of a start. */
export function parametersOf({ customParameters }: { readonly customParameters: object }): string {
  const names = Object.keys(customParameters);
  return names.length === 0 ? 'no custom parameters' : `custom parameters: ${names.join(', ')}`;
}

function addAudio(heard: Heard, samples: number, nowMs: number): void {
  if (typeof heard.start === 'string') return;
  heard.maxGapMs = Math.max(heard.maxGapMs, nowMs - (heard.lastAudioAtMs ?? nowMs));
  heard.lastAudioAtMs = nowMs;
  heard.audioMs += (samples * 1000) / heard.start.sampleRateHz;
  heard.maxAheadMs = Math.max(heard.maxAheadMs, Math.round(heard.audioMs - nowMs));
}

function pacing({ audioMs, lastAudioAtMs, maxAheadMs, maxGapMs }: Heard): Finding {
  if (lastAudioAtMs === undefined) return skipped('pacing', 'the gateway sent no audio');
  const behindMs = Math.round(lastAudioAtMs - audioMs);
  if (maxAheadMs > MAX_AHEAD_MS)
    return fail('pacing', `the caller's audio is ${maxAheadMs} ms ahead of real time`);
  if (maxGapMs > MAX_GAP_MS)
    return fail('pacing', `the caller's audio pauses for ${maxGapMs} ms; silence is audio too`);
  if (behindMs > MAX_BEHIND_MS) return fail('pacing', `${behindMs} ms of the caller's audio are missing`);
  return pass('pacing', `in real time, the longest pause ${maxGapMs} ms`);
}

function playedMark({ marks }: Heard, { hasNoMarks }: StreamDialect, call: CheckedCall): Finding {
  if (hasNoMarks) return skipped('marks', 'the dialect has none');
  const mark = marks.get(PLAYED);
  if (mark === undefined && (call.end?.atMs ?? 0) < SECOND_TONE_AT_MS) return call.endedBefore('marks');
  if (mark === undefined || mark.outcome === 'cleared')
    return fail('marks', 'the mark behind a tone that was played was not returned as played');
  const { atMs } = mark;
  const lateMs = atMs - FIRST_TONE_MS;
  if (lateMs < -MARK_TOLERANCE_MS)
    return fail('marks', `a mark behind ${FIRST_TONE_MS} ms of audio was returned after ${atMs} ms`);
  const late = `a mark was returned ${lateMs} ms after the audio before it should have been played`;
  if (lateMs > MARK_TIMEOUT_MS) return fail('marks', late);
  return pass('marks', `returned ${atMs} ms after ${FIRST_TONE_MS} ms of audio were sent`);
}

function clearedMark({ marks }: Heard, dialect: StreamDialect, call: CheckedCall): Finding {
  if (dialect.hasNoMarks) return skipped('clear', 'the dialect has no marks, which would tell');
  if ((call.end?.atMs ?? 0) < CLEAR_AT_MS + MARK_TIMEOUT_MS) return call.endedBefore('clear');
  const mark = marks.get(CLEARED);
  const afterMs = (mark?.atMs ?? 0) - CLEAR_AT_MS;
  if (dialect.botRules?.returnsPlayedMarksOnly)
    return mark === undefined
      ? pass('clear', 'the mark behind the cleared audio was dropped')
      : fail('clear', `the mark behind cleared audio was returned, ${afterMs} ms after the clear`);
  if (mark === undefined) return fail('clear', 'the mark behind the cleared audio was not returned');
  if (mark.outcome === 'played') return fail('clear', 'the mark behind cleared audio was returned as played');
  if (afterMs < 0) return fail('clear', `a mark was returned ${-afterMs} ms before its audio was cleared`);
  const returned = `the mark was returned ${afterMs} ms after the clear`;
  return afterMs <= MARK_TIMEOUT_MS
    ? pass('clear', returned)
    : fail('clear', `${returned}, as if the audio was played`);
}

function tone(sampleRateHz: number, durationMs: number): Int16Array {
  const turn = (2 * Math.PI * TONE_HZ) / sampleRateHz;
  return new Int16Array((sampleRateHz * durationMs) / 1000).map((_, n) =>
    Math.round(TONE_LEVEL * Math.sin(turn * n)),
  );
}
