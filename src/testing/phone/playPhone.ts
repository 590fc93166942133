import type { MakeId } from '../../base/values/ids.ts';
import type { TestCall } from '../../calls/setup/testCall.ts';
import type { Impairment } from '../../media/transport/packetIo.ts';
import type { TextToSpeech } from '../../models/ports/textToSpeech.ts';
import { type PlayDeps, type Played, type PlayRequest, runPlay } from '../play/runPlay.ts';
import { isAnswering } from '../rehearsal/callee.ts';
import { judgeContact, playContact, unansweredContact } from '../rehearsal/playContact.ts';
import { backgroundNoise } from '../simulator/backgroundNoise.ts';
import { CallerVoice } from '../simulator/callerVoice.ts';
import { HeardSpeech } from '../simulator/heardSpeech.ts';
import { onLine } from '../simulator/sounds.ts';
import type { Line } from './line.ts';
import { PhoneCall } from './phoneCall.ts';
import { PhoneChannel } from './phoneChannel.ts';
import { SessionRecord, type SessionRecordDeps } from './sessionRecord.ts';

const DEFAULT_CODEC = 'PCMU';
const DEFAULT_VOICE = 'rms';
/** A voice in a room that is not quiet. */
const DEFAULT_SNR_DB = 15;

export interface PhonePlayerDeps extends PlayDeps, Omit<SessionRecordDeps, 'signal'> {
  readonly callers: SimulatedCallers;
  readonly makeId: MakeId;
}

export interface SimulatedCallers {
  /** @throws {LineRefusedError} @throws The signal's reason. */
  call(call: TestCall, impairment: Impairment, signal: AbortSignal): Promise<Line>;
  readonly textToSpeech: TextToSpeech;
  /** Voices of people in the background, at the rate of `textToSpeech`. */
  background(): Promise<readonly Int16Array[]>;
}

/** Plays a case by a call to this node: over SIP and RTP, and through all that a call goes through. */
export async function playPhone(
  deps: PhonePlayerDeps,
  play: PlayRequest,
  signal: AbortSignal,
): Promise<Played> {
  const { projectId, sessionId, releaseId, draft, definition } = play;
  const { toolMocks, allowRealTools, phone, callee } = definition;
  if (callee && !isAnswering(callee)) return unansweredContact(callee, definition.variables ?? {});
  const call: TestCall = {
    projectId,
    sessionId,
    callId: deps.makeId(),
    direction: callee ? 'outbound' : 'inbound',
    codec: phone?.codec ?? DEFAULT_CODEC,
    variables: definition.variables ?? {},
    test: { releaseId, toolMocks, allowRealTools },
    draft,
  };
  const record = new SessionRecord({ ...deps, signal }, call);
  const channel = new PhoneChannel({
    call: (dialing) => openCall(deps, play, call, record, dialing),
    record,
    speaksFirst: callee !== undefined,
  });
  const onAbort = () => void channel.close(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const outcome = callee
      ? await playContact(channel, callee, signal)
      : await runPlay(deps, play, channel, signal);
    const ended = await record.endedCall();
    const judged = callee && judgeContact(callee, ended, record.hasOptedOut);
    return { ...outcome, ...judged, recordingKey: ended?.recording?.key ?? undefined };
  } finally {
    signal.removeEventListener('abort', onAbort);
    await channel.close(new Error('the play is over'));
  }
}

async function openCall(
  { callers }: PhonePlayerDeps,
  { seed, definition: { phone } }: PlayRequest,
  call: TestCall,
  record: SessionRecord,
  signal: AbortSignal,
): Promise<PhoneCall> {
  const { lossPercent = 0, jitterMs = 0, noise = 'none', snrDb = DEFAULT_SNR_DB } = phone ?? {};
  const people = noise === 'babble' ? await callers.background() : [];
  const line = await callers.call(call, { lossRatio: lossPercent / 100, jitterMs, seed }, signal);
  // At once: its first audio follows.
  const heard = new HeardSpeech(line.stream);
  const { sampleRateHz } = line.stream.info;
  const { textToSpeech } = callers;
  const behind = people.map((words) => onLine(words, textToSpeech.sampleRateHz, sampleRateHz));
  const loop = noise === 'none' ? undefined : backgroundNoise(noise, seed, sampleRateHz, behind);
  return new PhoneCall({
    line,
    heard,
    voice: new CallerVoice({ sampleRateHz, seed, noise: loop, snrDb }),
    speech: { textToSpeech, voice: phone?.voice ?? DEFAULT_VOICE },
    record,
  });
}
