import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SupervisorGate } from '../../../src/media/supervision/supervisorStream.ts';
import { parseWav, pickChannel } from '../../../src/media/wav.ts';
import { tempDir } from '../../support/tempDir.ts';
import { CODECS, FakeStreamClient, openCall, Phone } from '../support/callHarness.ts';
import { rootMeanSquare, tone, tonePower, toneShare } from '../support/signals.ts';

const RATE_HZ = 8000;
const [CALLER_HZ, AGENT_HZ, SUPERVISOR_HZ] = [600, 1000, 1700];

/** A call in PCMU whose caller and agent sound all the time, and whose supervisors connect at once. */
async function supervisedCall() {
  const clients: FakeStreamClient[] = [];
  const supervisorGate: SupervisorGate = {
    async admit({ sampleRateHz }, handler) {
      const client = new FakeStreamClient(sampleRateHz, handler);
      clients.push(client);
      return { port: 1, path: '/', connected: Promise.resolve(client) };
    },
    close: async () => undefined,
  };
  const call = await openCall({ supervisorGate });
  call.connect();
  const agent = await call.startStream({ isInternal: true });
  const phone = new Phone(CODECS.PCMU, tone(RATE_HZ, CALLER_HZ, RATE_HZ));
  const voice = tone(RATE_HZ, AGENT_HZ, RATE_HZ);
  let supervisors = 0;
  return {
    ...call,
    agent,
    async join(mode: 'listen' | 'whisper' | 'takeover', participant?: typeof call.audio) {
      supervisors += 1;
      const request = { supervisorId: `s${supervisors}`, callId: 'c', mode };
      await call.audio.admitSupervisor(request, participant?.parties);
      await Promise.resolve();
      const client = clients.at(-1);
      if (!client) throw new Error('nobody has connected');
      const channel = (index: number) =>
        pickChannel({ samples: Int16Array.from(client.audio), channels: 2, sampleRateHz: RATE_HZ }, index);
      return {
        client,
        left: () => channel(0),
        right: () => channel(1),
        speak: (samples: number) => client.handler.audio(tone(RATE_HZ, SUPERVISOR_HZ, samples)),
      };
    },
    /** One second in which both sound. */
    second: (tick: () => void = () => {}) =>
      call.ticks(50, (index) => {
        tick();
        call.rtp.deliver(phone.next());
        agent.handler.audio(voice.slice(index * 160, (index + 1) * 160));
      }),
    heardByCaller: () => phone.hear(call.rtp.sent),
  };
}

const last = (samples: Int16Array) => samples.slice(-RATE_HZ / 2);

describe('A listener', () => {
  test('hears the caller left and the agent right, and is heard by nobody', async () => {
    const call = await supervisedCall();
    const listener = await call.join('listen');
    call.second();
    listener.speak(4000);
    call.second();
    expect(toneShare(last(listener.left()), RATE_HZ, CALLER_HZ)).toBeGreaterThan(0.95);
    expect(toneShare(last(listener.right()), RATE_HZ, AGENT_HZ)).toBeGreaterThan(0.95);
    expect(toneShare(call.heardByCaller().slice(8000), RATE_HZ, AGENT_HZ)).toBeGreaterThan(0.95);
    expect(call.agent.audio.length).toBe(16_000);
  });

  test('whose connection is slow misses audio, and is closed after ten seconds', async () => {
    const call = await supervisedCall();
    const [slow, other] = [await call.join('listen'), await call.join('listen')];
    call.second();
    const heard = slow.client.audio.length;
    slow.client.isBehind = true;
    for (let seconds = 0; seconds < 9; seconds++) call.second();
    expect([slow.client.audio.length, slow.client.closedWith]).toEqual([heard, undefined]);
    call.ticks(60);
    expect(slow.client.closedWith?.code).toBe(1013);
    expect(other.client.audio.length).toBe((11 * 50 + 10) * 320);
    expect(call.valuesOf('supervisor')).toMatchObject([
      { status: 'joined' },
      { status: 'joined' },
      { status: 'left' },
    ]);
  });

  test('is one of five at most, and gone with the call', async () => {
    const call = await supervisedCall();
    const listeners = [];
    for (let n = 0; n < 5; n++) listeners.push(await call.join('listen'));
    await expect(call.join('whisper')).rejects.toMatchObject({ code: 'too_many_supervisors' });
    listeners[0]?.client.handler.closed({ how: 'stopped', code: 1000, reason: '' });
    await call.join('takeover');
    await call.audio.close();
    expect(listeners[1]?.client.closedWith).toEqual({ code: 1000, reason: 'the call has ended' });
  });
});

describe('A whisper', () => {
  test('is heard by the bridged person with the caller, and by nobody else', async () => {
    const [call, other] = [await supervisedCall(), await openCall()];
    other.connect();
    call.audio.stopStream();
    call.audio.parties.bridge(other.audio.parties);
    const [whisperer, listener] = [await call.join('whisper'), await call.join('listen')];
    whisperer.speak(RATE_HZ);
    call.ticks(50, () => other.ticks(1));
    const person = new Phone(CODECS.PCMU, tone(RATE_HZ, 1, 160)).hear(other.rtp.sent);
    expect(toneShare(person.slice(800, 7200), RATE_HZ, SUPERVISOR_HZ)).toBeGreaterThan(0.95);
    expect(rootMeanSquare(call.heardByCaller())).toBeLessThan(10);
    expect(rootMeanSquare(listener.right())).toBe(0);
  });
});

describe('A whisper to participants', () => {
  /** Who hears the supervisor among caller, agent, listener and both participants. */
  async function conference() {
    const call = await supervisedCall();
    const listener = await call.join('listen');
    const people = [await openCall(), await openCall()];
    for (const { connect, audio } of people) {
      connect();
      audio.parties.join(call.audio.parties);
    }
    const ears = people.map(() => new Phone(CODECS.PCMU, tone(RATE_HZ, 1, 160)));
    const tick = () => {
      for (const { ticks } of people) ticks(1);
    };
    const hears = (samples: Int16Array) => tonePower(samples, RATE_HZ, SUPERVISOR_HZ) > 100_000;
    const listen = (isSilent: boolean) => {
      const from = [call, ...people].map(({ rtp }) => rtp.sent.length);
      if (isSilent) call.ticks(50, tick);
      else call.second(tick);
      const heard = [call, ...people].map(({ rtp }, nth) =>
        (ears[nth - 1] ?? new Phone(CODECS.PCMU, tone(RATE_HZ, 1, 160))).hear(rtp.sent.slice(from[nth])),
      );
      const [caller = [], ...others] = heard.map((samples) => samples.slice(-4000));
      const agent = call.agent.audio.slice(-4000);
      const ofListener = listener.right().slice(-4000);
      return [caller, agent, ofListener, ...others].map((samples) => hears(Int16Array.from(samples)));
    };
    return { call, people, listen };
  }

  test.each([[true], [false]])(
    'is heard by all of them, and by nobody else (silence: %s)',
    async (isSilent) => {
      const { call, listen } = await conference();
      const whisperer = await call.join('whisper');
      whisperer.speak(RATE_HZ);
      expect(listen(isSilent)).toEqual([false, false, false, true, true]);
    },
  );

  test('is heard by the one who is named alone, and ends when they leave', async () => {
    const { call, people, listen } = await conference();
    const [one, other] = people.map(({ audio }) => audio);
    const whisperer = await call.join('whisper', one);
    for (const isSilent of [true, false]) {
      whisperer.speak(RATE_HZ);
      expect(listen(isSilent)).toEqual([false, false, false, true, false]);
    }
    await one?.close();
    call.ticks(1);
    expect(whisperer.client.closedWith).toEqual({ code: 1000, reason: 'the participant has left the call' });
    other?.parties.unbridge();
    await expect(call.join('whisper', other)).rejects.toMatchObject({ code: 'no_human_party' });
  });
});

describe('A takeover', () => {
  test('is heard by the caller in place of the agent, which hears and sends nothing meanwhile', async () => {
    const call = await supervisedCall();
    call.second();
    const [taker, listener] = [await call.join('takeover'), await call.join('listen')];
    await expect(call.join('takeover')).rejects.toMatchObject({ code: 'call_taken_over' });
    taker.speak(RATE_HZ);
    call.agent.handler.mark('waiting');
    call.second();
    expect(call.agent.messages).toMatchObject([{ mark: { name: 'waiting', outcome: 'cleared' } }]);
    expect(rootMeanSquare(Int16Array.from(call.agent.audio.slice(-7000)))).toBe(0);
    expect(toneShare(last(call.heardByCaller()), RATE_HZ, SUPERVISOR_HZ)).toBeGreaterThan(0.95);
    expect(toneShare(last(listener.right()), RATE_HZ, SUPERVISOR_HZ)).toBeGreaterThan(0.95);
    expect(toneShare(last(taker.left()), RATE_HZ, CALLER_HZ)).toBeGreaterThan(0.95);
    expect(rootMeanSquare(last(taker.right()))).toBeLessThan(2);

    taker.client.handler.closed({ how: 'stopped', code: 1000, reason: '' });
    call.second();
    expect(toneShare(last(call.heardByCaller()), RATE_HZ, AGENT_HZ)).toBeGreaterThan(0.95);
    expect(toneShare(Int16Array.from(call.agent.audio.slice(-4000)), RATE_HZ, CALLER_HZ)).toBeGreaterThan(
      0.95,
    );
  });

  test('ends when the agent leaves for another person, and when speech comes faster than it can be said', async () => {
    const call = await supervisedCall();
    const first = await call.join('takeover');
    call.audio.stopStream();
    expect(first.client.closedWith).toMatchObject({ code: 1000 });
    const second = await call.join('takeover');
    second.speak(31 * RATE_HZ);
    expect(second.client.closedWith).toMatchObject({ code: 1008 });
  });
});

test('A paused recording gets silence of the same length on both channels', async () => {
  const call = await supervisedCall();
  const path = join(tempDir(), 'call.wav');
  await call.audio.startRecording({ path });
  call.second();
  call.audio.pauseRecording(true);
  call.second();
  call.audio.pauseRecording(false);
  call.second();
  const { recording } = await call.audio.close();
  expect(recording?.durationMs).toBe(3000);
  const wav = parseWav(new Uint8Array(readFileSync(path)));
  for (const channel of [0, 1]) {
    const levels = [0, 1, 2].map((second) =>
      Math.sign(rootMeanSquare(pickChannel(wav, channel).subarray(second * RATE_HZ, (second + 1) * RATE_HZ))),
    );
    expect(levels).toEqual([1, 0, 1]);
  }
});
