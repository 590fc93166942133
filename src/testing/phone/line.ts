import { CallwayError } from '../../base/errors.ts';
import { type ExpectedTestCalls, TEST_NUMBER, type TestCall } from '../../calls/setup/testCall.ts';
import type { CallLeg, LegEnd, Telephony } from '../../calls/telephony.ts';
import { type Trunk, trunkInput } from '../../calls/trunks/trunk.ts';
import type { AudioStream } from '../../conversation/streams/audioStream.ts';
import type { MediaSession } from '../../media/mediaSession.ts';

const RING_TIMEOUT_MS = 30_000;
/** A busy machine may not open a connection in time. */
const AUDIO_ATTEMPTS = 6;

export interface LineDeps {
  /** The telephony of the simulated callers. */
  readonly telephony: Telephony;
  /** Connects the audio that the caller hears and says. */
  readonly connectAudio: (media: MediaSession, callId: string) => Promise<AudioStream>;
  /** The test calls that the node under test expects. */
  readonly testCalls: ExpectedTestCalls;
  readonly now: () => number;
}

/** An answered call, from the caller's side. */
export interface Line {
  readonly stream: AudioStream;
  /** When the stream's clock began, in Unix time. */
  readonly startedAtMs: number;
  readonly ended: Promise<LegEnd>;
  sendDtmf(digits: string): Promise<void>;
  /** Resolves when the call has ended. Idempotent. */
  hangUp(): Promise<void>;
}

/** Calls the agent over SIP and RTP. @throws {LineRefusedError} @throws The signal's reason. */
export async function openLine(deps: LineDeps, call: TestCall, signal: AbortSignal): Promise<Line> {
  signal.throwIfAborted();
  const { telephony, testCalls, now } = deps;
  const { projectId, callId, codec } = call;
  const { user, host, port, cancel } = testCalls.expect(call);
  const leg = telephony.dial({
    projectId,
    callId,
    trunk: trunkOf(call, { host, port, codecs: [codec] }),
    fromNumber: TEST_NUMBER,
    toNumber: user,
    ringTimeoutMs: RING_TIMEOUT_MS,
    mayRedirectTo: async () => false,
  });
  const ended = closedEnd(leg);
  const hangUp = async () => {
    await leg.hangup();
    await ended;
  };
  const onAbort = () => void hangUp();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const media = await answered(leg, ended);
    const stream = await connectedAudio(deps, media, leg.sipCallId);
    return { stream, startedAtMs: now(), ended, sendDtmf: (digits) => leg.sendDtmf(digits), hangUp };
  } catch (error) {
    await hangUp();
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    cancel();
  }
}

/** The call was not answered. */
export class LineRefusedError extends CallwayError {
  readonly how: string;

  constructor({ outcome, sip }: LegEnd) {
    const how = sip ? `${sip.code} ${sip.reason}` : outcome;
    super('unavailable', 'test_call_refused', `The simulated caller’s call was not answered: ${how}`);
    this.how = how;
  }
}

/** Resolves when the leg has ended and its ports are free. */
function closedEnd(leg: CallLeg): Promise<LegEnd> {
  return new Promise((resolve) => {
    leg.events.on('ended', (end) => {
      const closing = Promise.resolve(leg.media?.close());
      void closing.catch(() => undefined).then(() => resolve(end));
    });
  });
}

function answered(leg: CallLeg, ended: Promise<LegEnd>): Promise<MediaSession> {
  return new Promise((resolve, reject) => {
    leg.events.on('answered', () => {
      if (leg.media) resolve(leg.media);
    });
    void ended.then((end) => reject(new LineRefusedError(end)));
  });
}

async function connectedAudio(
  { connectAudio }: Pick<LineDeps, 'connectAudio'>,
  media: MediaSession,
  sipCallId: string,
  attemptsLeft = AUDIO_ATTEMPTS,
): Promise<AudioStream> {
  try {
    return await connectAudio(media, sipCallId);
  } catch (error) {
    const isLate = error instanceof CallwayError && error.category === 'unavailable';
    if (!isLate || attemptsLeft <= 1) throw error;
    return await connectedAudio({ connectAudio }, media, sipCallId, attemptsLeft - 1);
  }
}

function trunkOf(
  { callId: id, projectId }: TestCall,
  settings: Pick<Trunk, 'host' | 'port' | 'codecs'>,
): Trunk {
  const at = new Date(0).toISOString();
  const trunk = trunkInput.parse({ name: TEST_NUMBER, numberFormat: 'as_given', ...settings });
  return { ...trunk, id, projectId, createdAt: at, updatedAt: at };
}
