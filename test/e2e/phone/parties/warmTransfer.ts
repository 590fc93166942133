import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { parseWav, pickChannel } from '../../../../src/media/wav.ts';
import type { BehaviourInput } from '../../../../src/testing/simulator/script.ts';
import { CODECS } from '../../../media/support/callHarness.ts';
import { tone } from '../../../media/support/signals.ts';
import { callees } from '../../../scenarios/callees.ts';
import { startRtpPhone } from '../../../support/media/rtpPhone.ts';
import { requiresSipPeers } from '../../../support/skips.ts';
import { encodeWav } from '../../../support/wavFile.ts';
import { type Bot, startBot } from '../support/bot.ts';
import { startCallee } from '../support/callee.ts';
import { type Line, newNumber, type PlacedCall, SLOW } from '../support/line.ts';
import { soundMs, toneMs } from '../support/tones.ts';
import { ALL_EVENTS } from '../support/webhooks.ts';
import { carrier, installation } from './installation.ts';

const TIMEOUT = 90_000;
const RATE_HZ = 8000;
const CALLER_HZ = 620;
const TARGET_HZ = 1000;
const MUSIC_HZ = 1500;
const ANNOUNCE = 'Ann asks about her bill.';

/** Listens until the other side hangs up. */
const STAYS: BehaviourInput = { kind: 'answers', afterMs: 0, script: [], stays: true };
/** Until the announcement is over: a busy machine pauses between its sentences. */
const LISTENS = { do: 'listen', quietMs: 1000, atMostMs: 20_000 } as const;
/** Long enough for the join on a busy machine. */
const TALKS = { do: 'wait', ms: 4000 } as const;
/** And for what accepts before it. */
const UNTIL_ACCEPTED = { do: 'wait', ms: 10_000 } as const;

async function startPhone(frequencyHz: number) {
  const phone = await startRtpPhone(CODECS.PCMU, tone(RATE_HZ, frequencyHz, RATE_HZ));
  onTestFinished(() => phone.close());
  const heard = () =>
    phone.phone.hear(phone.received.filter(({ bytes }) => bytes.length > 100 && (bytes[1] ?? 0) < 200));
  return { ...phone, heard };
}

async function transferOf(line: Line, call: PlacedCall, options: object) {
  const { status } = await line.api('POST', `/calls/${call.callId}/transfer`, options);
  expect(status).toBe(202);
}

async function expectNothingLeft(line: Line): Promise<void> {
  await vi.waitFor(async () => {
    for (const trunkId of line.trunkIds)
      expect((await line.api('GET', `/trunks/${trunkId}`)).body.health.channelsInUse).toBe(0);
  }, SLOW);
}

describe('a warm transfer', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('plays music to the caller, tells the target alone, then joins and records both', async () => {
    const bot = await startBot('callway');
    const [caller, target] = [await startPhone(CALLER_HZ), await startPhone(TARGET_HZ)];
    const first = await startCallee(callees.answers, { mediaPort: caller.port });
    const second = await startCallee(callees.hangsUpLater, { mediaPort: target.port, durationMs: 8000 });
    const line = await installation().makeLine({
      trunks: [{ port: first.port, maxChannels: 1 }, { port: second.port }],
    });
    const music = await line.api('POST', '/media', undefined, {
      body: Buffer.from(encodeWav(tone(RATE_HZ, MUSIC_HZ, RATE_HZ), RATE_HZ)),
      headers: { 'content-type': 'audio/wav' },
    });
    const call = await line.call({ media: { url: bot.url, dialect: 'callway' } });
    const session = await bot.nextSession();
    await caller.sendToSource();
    await line.waitForStatus(call, 'in_progress');
    const holdMusic = { mediaId: music.body.id };
    await transferOf(line, call, { to: newNumber(), mode: 'warm', announce: ANNOUNCE, holdMusic });
    await target.sendToSource();
    expect(await session.text('stop')).toBeDefined();
    session.socket.close();
    const joinedAt = target.heard().length;
    expect((await second.ended).exitCode).toBe(0);
    expect((await first.ended).exitCode).toBe(0);
    expect(await line.waitForEnd(call)).toMatchObject({
      status: 'completed',
      endReason: 'transferred',
      transfer: { mode: 'warm', status: 'joined', outcome: 'joined' },
    });
    // Nobody hears what is not for it.
    const [byCaller, byTarget] = [caller.heard(), target.heard()];
    const told = byTarget.subarray(0, joinedAt);
    expect(toneMs(byCaller, RATE_HZ, MUSIC_HZ)).toBeGreaterThan(800);
    expect(toneMs(byCaller, RATE_HZ, TARGET_HZ)).toBeGreaterThan(800);
    const expectedMs = toneMs(byCaller, RATE_HZ, MUSIC_HZ) + toneMs(byCaller, RATE_HZ, TARGET_HZ);
    expect(soundMs(byCaller, RATE_HZ) - expectedMs).toBeLessThan(200);
    expect(soundMs(told, RATE_HZ) - toneMs(told, RATE_HZ, CALLER_HZ)).toBeGreaterThan(500);
    expect(toneMs(byTarget, RATE_HZ, MUSIC_HZ)).toBe(0);
    expect(toneMs(byTarget, RATE_HZ, CALLER_HZ)).toBeGreaterThan(800);
    expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
    const { recording } = await line.readCall(call);
    const wav = parseWav(new Uint8Array(await (await fetch(recording.url)).arrayBuffer()));
    const [left, right] = [pickChannel(wav, 0), pickChannel(wav, 1)];
    expect(toneMs(left, RATE_HZ, TARGET_HZ)).toBe(0);
    const toldMs =
      soundMs(right, RATE_HZ) - toneMs(right, RATE_HZ, TARGET_HZ) - toneMs(right, RATE_HZ, MUSIC_HZ);
    // The target's tone sounds beside the announcement.
    expect(toldMs).toBeGreaterThan(100);
    expect(toneMs(right, RATE_HZ, TARGET_HZ)).toBeGreaterThan(800);
    await expectNothingLeft(line);
  });
});

interface Ending {
  readonly target: BehaviourInput | readonly BehaviourInput[];
  readonly options?: object;
  readonly caller?: BehaviourInput;
  /** Of the call's `transfer`. */
  readonly outcome: string;
  /** Absent where the call goes on. */
  readonly endReason?: string;
}

const answers = (...script: readonly object[]): BehaviourInput =>
  ({ kind: 'answers', afterMs: 100, script }) as BehaviourInput;
const RINGS: BehaviourInput = { kind: 'never_answers' };

const ENDINGS: Readonly<Record<string, Ending>> = {
  'accepted by answering': { target: answers(LISTENS, TALKS), outcome: 'joined', endReason: 'transferred' },
  'accepted by a digit': {
    target: answers(LISTENS, { do: 'send_dtmf', digits: '1' }, UNTIL_ACCEPTED),
    options: { acceptBy: 'digit' },
    outcome: 'joined',
    endReason: 'transferred',
  },
  'accepted by a word': {
    target: answers(LISTENS, { do: 'say', text: 'Yes.' }, UNTIL_ACCEPTED),
    options: { acceptBy: 'speech', afterJoin: 'listen' },
    outcome: 'joined',
    endReason: 'transferred',
  },
  'refused by a digit': {
    target: answers(LISTENS, { do: 'send_dtmf', digits: '2' }, TALKS),
    options: { acceptBy: 'digit' },
    outcome: 'refused',
  },
  'refused by hanging up': {
    target: answers({ do: 'wait', ms: 300 }),
    options: { acceptBy: 'digit' },
    outcome: 'refused',
  },
  busy: { target: { kind: 'refuses', sipCode: 486 }, outcome: 'busy' },
  'not answered': { target: RINGS, options: { timeoutSeconds: 1 }, outcome: 'no_answer' },
  'not accepted': {
    target: STAYS,
    options: { acceptBy: 'digit', timeoutSeconds: 2 },
    outcome: 'no_answer',
  },
  'left by the caller': {
    target: STAYS,
    options: { acceptBy: 'digit' },
    caller: answers({ do: 'wait', ms: 8000 }),
    outcome: 'failed',
    endReason: 'caller_hangup',
  },
  'answered by the last of three at once': {
    target: [RINGS, RINGS, answers(LISTENS, TALKS)],
    options: { strategy: 'simultaneous' },
    outcome: 'joined',
    endReason: 'transferred',
  },
};

async function play(bot: Bot, { target, options, caller = STAYS, ...expected }: Ending) {
  const line = await installation().makeLine({ trunks: [{ port: carrier.sipPort }] });
  const toNumber = newNumber();
  carrier.phones.set(toNumber, caller);
  const targets = [target].flat().map((how) => {
    const number = newNumber();
    carrier.phones.set(number, how);
    return number;
  });
  const call = await line.call({ toNumber, media: { url: bot.url, dialect: 'callway' } });
  await line.waitForStatus(call, 'in_progress');
  const to = targets.length > 1 ? { targets } : { to: targets[0] };
  await transferOf(line, call, { ...to, mode: 'warm', announce: ANNOUNCE, ...options });
  const over = await vi.waitFor(async () => {
    const seen = await line.readCall(call);
    expect(seen.transfer?.outcome).toEqual(expect.any(String));
    return seen;
  }, SLOW);
  expect(over.transfer.outcome).toBe(expected.outcome);
  if (expected.endReason === undefined) {
    expect(over.status).toBe('in_progress');
    await line.api('POST', `/calls/${call.callId}/hangup`);
  }
  expect((await line.waitForEnd(call)).endReason).toBe(expected.endReason ?? 'api_hangup');
  await expectNothingLeft(line);
}

test('Every ending of a warm transfer leaves no phone ringing, no channel and no port', {
  timeout: TIMEOUT,
}, async () => {
  const bot = await startBot('callway');
  const names = Object.keys(ENDINGS);
  const outcomes = await Promise.allSettled(Object.values(ENDINGS).map((ending) => play(bot, ending)));
  const failures = outcomes.flatMap((outcome, index) =>
    outcome.status === 'rejected' ? [`${names[index]}: ${outcome.reason}`] : [],
  );
  expect(failures).toEqual([]);
  await vi.waitFor(() => expect(carrier.phones.active).toBe(0), SLOW);
});
