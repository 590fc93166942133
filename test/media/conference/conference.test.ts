import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { Conference } from '../../../src/media/conference/conference.ts';
import { parseWav, pickChannel } from '../../../src/media/wav.ts';
import { tempDir } from '../../support/tempDir.ts';
import { CODECS, connectedCall, Phone } from '../support/callHarness.ts';
import { tone, tonePower } from '../support/signals.ts';

type CodecName = keyof typeof CODECS;

const RATE_HZ = { PCMU: 8000, PCMA: 8000, G722: 16_000, opus: 16_000, L16: 24_000 } as const;
const AGENT_HZ = 440;
const CALLER_HZ = 700;
const PARTICIPANT_HZ = [950, 1300, 1700, 2150, 2600, 3100] as const;
const EVERYBODY_HZ = [AGENT_HZ, CALLER_HZ, ...PARTICIPANT_HZ];
const AMPLITUDE = 3000;
const TICKS = 50;

/** A call with an agent and participants, each of whom sends a tone. */
async function conference(codecs: readonly CodecName[], path?: string) {
  const leg = async (name: CodecName, hz: number) => {
    const call = await connectedCall({ codec: CODECS[name] });
    const phone = new Phone(CODECS[name], tone(RATE_HZ[name], hz, RATE_HZ[name], AMPLITUDE));
    return { call, phone, rateHz: RATE_HZ[name] };
  };
  const [first = 'PCMU', ...others] = codecs;
  const caller = await leg(first, CALLER_HZ);
  const agent = await caller.call.startStream();
  if (path !== undefined) await caller.call.audio.startRecording({ path });
  const participants = await Promise.all(others.map((name, nth) => leg(name, PARTICIPANT_HZ[nth] ?? 0)));
  for (const { call } of participants) call.audio.parties.join(caller.call.audio.parties);
  agent.handler.audio(tone(agent.sampleRateHz, AGENT_HZ, agent.sampleRateHz * 3, AMPLITUDE));

  const legs = [caller, ...participants];
  /** @returns Whom each leg, and the agent at last, heard meanwhile. */
  const listen = (silent: readonly number[] = []) => {
    const from = legs.map(({ call }) => call.rtp.sent.length);
    const agentFrom = agent.audio.length;
    for (let n = 0; n < TICKS; n++) {
      for (const [nth, { call, phone }] of legs.entries()) {
        call.ticks(1, () => silent.includes(nth) || call.rtp.deliver(phone.next()));
      }
    }
    const heard = legs.map(({ call, phone, rateHz }, nth) =>
      tonesIn(phone.hear(call.rtp.sent.slice(from[nth])), rateHz),
    );
    return [...heard, tonesIn(Int16Array.from(agent.audio.slice(agentFrom)), agent.sampleRateHz)];
  };
  return { caller, participants, listen };
}

/** The second half, when jitter buffers and resamplers are full. */
const tonesIn = (samples: Int16Array, rateHz: number) => {
  const half = samples.slice(samples.length >> 1);
  return EVERYBODY_HZ.filter((hz) => tonePower(half, rateHz, hz) > (AMPLITUDE / 5) ** 2);
};
const allBut = (...absent: number[]) => EVERYBODY_HZ.filter((hz) => !absent.includes(hz));

describe('A conference', () => {
  it.each<[readonly CodecName[]]>([
    [['PCMU', 'PCMU', 'PCMA']],
    [['PCMU', 'PCMU', 'PCMU', 'PCMU', 'PCMU', 'PCMU', 'PCMU']],
    [['PCMA', 'G722', 'opus']],
    [['G722', 'PCMU', 'G722', 'L16']],
    [['opus', 'PCMU']],
  ])('lets everybody hear all others and not themselves, by the codecs %s', async (codecs) => {
    const { listen } = await conference(codecs);
    const absent = PARTICIPANT_HZ.slice(codecs.length - 1);
    listen();
    expect(listen()).toEqual([
      allBut(CALLER_HZ, ...absent),
      ...PARTICIPANT_HZ.slice(0, codecs.length - 1).map((own) => allBut(own, ...absent)),
      allBut(AGENT_HZ, ...absent),
    ]);
  });

  it('keeps the muted from being heard, and the held from hearing too', async () => {
    const { participants, listen } = await conference(['PCMU', 'PCMU', 'PCMU', 'PCMU']);
    const [muted, held, other] = PARTICIPANT_HZ;
    const absent = PARTICIPANT_HZ.slice(3);
    listen();
    participants[0]?.call.audio.parties.setParticipation({ isMuted: true, isHeld: false });
    participants[1]?.call.audio.parties.setParticipation({ isMuted: false, isHeld: true });
    expect(listen()).toEqual([
      [AGENT_HZ, other],
      allBut(muted, held, ...absent),
      [],
      [AGENT_HZ, CALLER_HZ],
      [CALLER_HZ, other],
    ]);
    for (const { call } of participants)
      call.audio.parties.setParticipation({ isMuted: false, isHeld: false });
    expect(listen()[0]).toEqual(allBut(CALLER_HZ, ...absent));
  });

  it('goes on without those who leave, and whose phones are silent', async () => {
    const { participants, listen } = await conference(['PCMU', 'PCMU', 'PCMU', 'PCMU']);
    const [left, closed, silent] = PARTICIPANT_HZ;
    listen();
    participants[0]?.call.audio.parties.unbridge();
    await participants[1]?.call.audio.close();
    const [caller, gone, , last, agent] = listen([2, 3]);
    expect([caller, gone, last, agent]).toEqual([
      [AGENT_HZ],
      [],
      allBut(left, closed, silent, ...PARTICIPANT_HZ.slice(3)),
      [CALLER_HZ],
    ]);
  });

  it('is recorded with the caller left and everybody else right', async () => {
    const path = join(tempDir(), 'conference.wav');
    const { caller, listen } = await conference(['PCMU', 'PCMU', 'G722'], path);
    listen();
    await caller.call.audio.close();
    const file = parseWav(readFileSync(path));
    expect(tonesIn(pickChannel(file, 0), 8000)).toEqual([CALLER_HZ]);
    expect(tonesIn(pickChannel(file, 1), 8000)).toEqual(allBut(CALLER_HZ, ...PARTICIPANT_HZ.slice(2)));
  });

  it('follows the caller’s change of codec', async () => {
    const { caller, listen } = await conference(['PCMU', 'PCMU', 'G722']);
    listen();
    caller.call.connect({ codec: CODECS.G722 });
    caller.phone = new Phone(CODECS.G722, tone(16_000, CALLER_HZ, 16_000, AMPLITUDE));
    caller.rateHz = 16_000;
    listen();
    const absent = PARTICIPANT_HZ.slice(2);
    expect(listen()[2]).toEqual(allBut(PARTICIPANT_HZ[1], ...absent));
  });
});

describe('The mix', () => {
  const SILENCE = new Int16Array(160);
  const constant = (value: number) => new Int16Array(160).fill(value);

  it('of loud voices does not clip, and gets its loudness back', () => {
    const room = new Conference(8000);
    const [one, two] = [room.join(8000), room.join(8000)];
    const loudest = (voices: readonly number[]) => {
      one.send(constant(voices[0] ?? 0));
      two.send(constant(voices[1] ?? 0));
      room.gather(constant(voices[2] ?? 0));
      const agent = constant(voices[3] ?? 0);
      room.mix(agent);
      one.pull(new Int16Array(160));
      two.pull(new Int16Array(160));
      return Math.max(...agent);
    };
    const loud = Array.from({ length: 20 }, () => loudest([20_000, 20_000, 20_000, 20_000]));
    expect(Math.max(...loud)).toBeLessThan(32_000);
    // The caller's own part is not in it: three of four voices.
    expect(Math.min(...loud)).toBeGreaterThan(20_000);
    const quiet = Array.from({ length: 100 }, () => loudest([1000, 0, 0, 1000]));
    expect(quiet[0]).toBeLessThan(1000);
    expect(quiet.at(-1)).toBe(2000);
  });

  it('costs nobody anything while all are silent, and gives a lone voice to the others as it is', () => {
    const room = new Conference(8000);
    const [one, two] = [room.join(8000), room.join(8000)];
    const frame = new Int16Array(160);
    const next = (voice: Int16Array) => {
      one.send(voice);
      room.gather(SILENCE);
      room.mix(new Int16Array(160));
      return [one.pull(frame), two.pull(frame), frame[0]];
    };
    expect(next(SILENCE)).toEqual([false, false, 0]);
    expect(next(constant(1234))).toEqual([false, true, 1234]);
  });
});
