import { describe, expect, it } from 'vitest';
import {
  agentCall,
  CODECS,
  connectedCall,
  FakeStreamClient,
  openCall,
  Phone,
  read,
  TARGET,
} from '../support/callHarness.ts';
import { rootMeanSquare, tone, toneShare } from '../support/signals.ts';

describe('Agent connection', () => {
  it('answers a mark when the audio before it has been sent', async () => {
    const { call, link } = await agentCall();
    link.handler.audio(new Int16Array(400).fill(1000));
    link.handler.mark('half');
    link.handler.audio(new Int16Array(400).fill(1000));
    link.handler.mark('all');
    call.ticks(2);
    expect(link.messages).toEqual([]);
    call.ticks(1);
    const position = { receivedSamples: 480, bufferDelayMs: 0 };
    // Whole frames are sent: the third has the end of the first chunk and 80 samples of the second.
    expect(link.messages).toEqual([
      { mark: { name: 'half', outcome: 'played', playedSamples: 480, ...position } },
    ]);
    expect(call.rtp.sent.length).toBe(3);
    call.ticks(2);
    expect(link.messages[1]).toEqual({
      mark: {
        name: 'all',
        outcome: 'played',
        playedSamples: 800,
        receivedSamples: 800,
        bufferDelayMs: 0,
      },
    });
  });

  it('keeps the caller’s digits until it is open, and while another one is awaited', async () => {
    const call = await connectedCall();
    const press = (digit: string) => call.audio.receiveDtmf({ digit, durationMs: 100 }, 'signalling');
    press('1');
    const first = await call.startStream({ canReconnect: true });
    press('2');
    expect(first.messages).toEqual([
      { digit: '1', durationMs: 100 },
      { digit: '2', durationMs: 100 },
    ]);
    first.handler.closed({ how: 'broken', code: 1006, reason: '' });
    press('3');
    const second = await call.startStream();
    expect(second.messages).toEqual([{ digit: '3', durationMs: 100 }]);
    call.audio.stopStream();
    press('4');
    expect((await call.startStream()).messages).toEqual([]);
  });

  it('stops within a frame of a clear and reports the played position', async () => {
    const { call, link } = await agentCall();
    const phone = new Phone(CODECS.PCMU, tone(8000, 500, 8000));
    link.handler.audio(tone(8000, 700, 8000));
    link.handler.mark('end');
    call.ticks(10);
    link.handler.clear();
    call.ticks(2);
    const [last, after] = call.rtp.sent.slice(10).map((packet) => phone.hear([packet]));
    // A fade of 5 ms, then silence.
    expect(Math.max(...(last?.subarray(40) ?? [1]))).toBe(0);
    expect(Math.max(...(after ?? [1]))).toBe(0);
    expect(link.messages).toEqual([
      {
        mark: {
          name: 'end',
          outcome: 'cleared',
          playedSamples: 1600,
          receivedSamples: 1760,
          bufferDelayMs: 0,
        },
      },
      { cleared: { playedSamples: 1640, receivedSamples: 1760, bufferDelayMs: 0 } },
    ]);
  });

  it('plays the queued audio of a closed connection, and accepts another', async () => {
    const { call, link: first } = await agentCall();
    first.handler.audio(new Int16Array(1600).fill(3000));
    call.ticks(2);
    first.handler.closed({ how: 'broken', code: 1006, reason: '' });
    expect(call.valuesOf('streamClosed')).toEqual([{ how: 'broken', code: 1006, reason: '' }]);
    call.ticks(3);
    const phone = new Phone(CODECS.PCMU, tone(8000, 500, 8000));
    expect(Math.min(...phone.hear(call.rtp.sent))).toBeGreaterThan(2900);
    expect(first.positions.length).toBe(2);
    const second = await call.startStream();
    call.ticks(2);
    expect(second.positions).toEqual([0, 160]);
  });

  it('limits the playout queue and counts dropped samples', async () => {
    const { call, link } = await agentCall();
    for (let n = 0; n < 13; n++) link.handler.audio(new Int16Array(80_000));
    call.ticks(1);
    const { counters } = await call.audio.close();
    expect(counters?.agentSamplesDropped).toBe(80_000);
  });

  it('sends silence in the gaps of an agent that is too slow, and counts the gaps', async () => {
    const { call, link } = await agentCall();
    const speech = new Int16Array(160).fill(3000);
    // 20 ms of speech in each 60 ms, twenty times.
    call.ticks(60, (index) => index % 3 === 0 && link.handler.audio(speech.slice()));
    link.handler.mark('end');
    call.ticks(20);
    const packets = call.rtp.sent.map(({ bytes }) => read(bytes));
    const begin = packets[0] as (typeof packets)[number];
    expect(packets.map(({ sequenceNumber, timestamp }) => [sequenceNumber, timestamp])).toEqual(
      packets.map((_, n) => [(begin.sequenceNumber + n) & 0xffff, (begin.timestamp + 160 * n) % 2 ** 32]),
    );
    expect(packets.map(({ marker }) => marker)).toEqual(packets.map((_, n) => n === 0));
    const heard = new Phone(CODECS.PCMU, speech).hear(call.rtp.sent);
    const loudness = Array.from({ length: 80 }, (_, n) =>
      rootMeanSquare(heard.subarray(n * 160, (n + 1) * 160)) > 2900 ? 'speech' : 'silence',
    );
    expect(loudness).toEqual(loudness.map((_, n) => (n % 3 === 0 && n < 60 ? 'speech' : 'silence')));
    const { counters, packetsSent } = await call.audio.close();
    // Between twenty chunks.
    expect([counters?.playoutUnderruns, packetsSent, counters?.packetsDue]).toEqual([19, 80, 80]);
  });

  it('adds up the counts of successive connections', async () => {
    const call = await connectedCall();
    for (let n = 0; n < 2; n++) {
      const link = await call.startStream();
      call.ticks(3, (index) => index !== 1 && link.handler.audio(new Int16Array(160).fill(3000)));
      link.handler.closed({ how: 'broken', code: 1006, reason: '' });
    }
    expect((await call.audio.close()).counters?.playoutUnderruns).toBe(2);
  });

  it('begins with the messages of its opening, and loses those that come while there is none', async () => {
    const call = await connectedCall();
    call.audio.receiveDtmf({ digit: '1', durationMs: 100 }, 'signalling');
    const pause = { kind: 'pause', isPaused: true } as const;
    const begun = { kind: 'transfer', status: 'begun', to: '+886223456789' } as const;
    call.audio.tellAgent(begun);
    await call.audio.startStream(TARGET, [pause]);
    call.audio.tellAgent(begun);
    expect(call.clients[0]?.messages).toEqual([
      { told: pause },
      { digit: '1', durationMs: 100 },
      { told: begun },
    ]);
  });

  it.each([
    ['a bot, also one that replaces it', undefined, 'silent'],
    ['no voice session of ours', true, 'heard'],
  ] as const)('Muting silences %s', async (_whom, isInternal, expected) => {
    const call = await connectedCall();
    const phone = new Phone(CODECS.PCMU, tone(8000, 500, 8000));
    const heard = (link: FakeStreamClient) => {
      call.ticks(2, () => link.handler.audio(new Int16Array(160).fill(3000)));
      const level = rootMeanSquare(phone.hear(call.rtp.sent.slice(-1)));
      return level > 1000 ? 'heard' : 'silent';
    };
    const first = await call.startStream({ isInternal });
    call.audio.muteAgent(true);
    expect(heard(first)).toBe(expected);
    first.handler.closed({ how: 'broken', code: 1006, reason: '' });
    const second = await call.startStream({ isInternal });
    expect(heard(second)).toBe(expected);
    call.audio.muteAgent(false);
    expect(heard(second)).toBe('heard');
  });

  it('plays audio that arrives before the connection is open', async () => {
    const clients: FakeStreamClient[] = [];
    const call = await openCall({
      connectStream: async ({ sampleRateHz }, handler) => {
        handler.audio(new Int16Array(320).fill(2000));
        handler.mark('early');
        const client = new FakeStreamClient(sampleRateHz, handler);
        clients.push(client);
        return client;
      },
    });
    call.connect();
    await call.audio.startStream(TARGET);
    call.ticks(2);
    expect(clients[0]?.messages).toMatchObject([
      { mark: { name: 'early', outcome: 'played', playedSamples: 320 } },
    ]);
  });
});

describe('A lost agent', () => {
  const BROKEN = { how: 'broken', code: 1006, reason: '' } as const;
  const words = (link: { readonly sampleRateHz: number }) => ({
    waiting: tone(link.sampleRateHz, 600, link.sampleRateHz),
    apology: tone(link.sampleRateHz, 900, link.sampleRateHz / 2),
  });
  const said = (phone: Phone, call: { readonly rtp: { readonly sent: readonly { bytes: Uint8Array }[] } }) =>
    phone.hear(call.rtp.sent.slice(-50));

  it('is replaced by its waiting prompt until another agent speaks', async () => {
    const call = await connectedCall();
    const phone = new Phone(CODECS.PCMU, tone(8000, 300, 8000));
    const first = await call.startStream({ canReconnect: true });
    first.handler.failoverPrompts(words(first));
    call.ticks(50);
    expect(rootMeanSquare(said(phone, call))).toBeLessThan(50);
    first.handler.closed(BROKEN);
    call.ticks(100);
    expect(toneShare(said(phone, call).slice(0, 4000), 8000, 600)).toBeGreaterThan(0.9);
    const second = await call.startStream({ canReconnect: true });
    second.handler.audio(tone(8000, 1500, 8000));
    call.ticks(50);
    expect(toneShare(said(phone, call), 8000, 1500)).toBeGreaterThan(0.9);
    call.ticks(500);
    expect(rootMeanSquare(said(phone, call))).toBeLessThan(50);
    expect(call.valuesOf('streamClosed')).toEqual([BROKEN]);
  });

  it('is replaced by a tone when it could not be connected', async () => {
    const connectStream = () => Promise.reject(new Error('connection refused'));
    const call = await openCall({ connectStream });
    call.connect();
    await expect(call.startStream({ canReconnect: true })).rejects.toThrow('connection refused');
    const phone = new Phone(CODECS.PCMU, tone(8000, 300, 8000));
    call.audio.awaitAgent();
    call.ticks(50);
    const tail = said(phone, call).subarray(5600, 7200);
    expect(toneShare(Int16Array.from(tail), 8000, 425)).toBeGreaterThan(0.5);
    await expect(call.audio.playApology()).resolves.toBeUndefined();
  });

  it('leaves what the caller says unheard until another one is connected, and counts it', async () => {
    const call = await connectedCall();
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    const first = await call.startStream();
    const speak = (frames: number) => call.ticks(frames, () => call.rtp.deliver(phone.next()));
    speak(20);
    first.handler.closed(BROKEN);
    speak(30);
    call.ticks(50);
    await call.startStream();
    speak(20);
    const { counters } = await call.audio.close();
    expect(counters?.callerFramesDropped).toBeGreaterThanOrEqual(25);
    expect(counters?.callerFramesDropped).toBeLessThanOrEqual(32);
  });

  it('is replaced by silence when the call does not reconnect', async () => {
    const { call, link } = await agentCall(undefined, { canReconnect: false });
    link.handler.failoverPrompts(words(link));
    link.handler.closed(BROKEN);
    const phone = new Phone(CODECS.PCMU, tone(8000, 300, 8000));
    call.ticks(100);
    expect(rootMeanSquare(phone.hear(call.rtp.sent))).toBeLessThan(10);
  });

  it('is followed by its apology, which resolves at its end or with the call', async () => {
    const { call, link } = await agentCall(undefined, { canReconnect: true });
    link.handler.failoverPrompts(words(link));
    link.handler.closed(BROKEN);
    let isOver = false;
    const over = call.audio.playApology().then(() => {
      isOver = true;
    });
    const phone = new Phone(CODECS.PCMU, tone(8000, 300, 8000));
    call.ticks(24);
    await Promise.resolve();
    expect(isOver).toBe(false);
    call.ticks(1);
    await over;
    expect(toneShare(phone.hear(call.rtp.sent), 8000, 900)).toBeGreaterThan(0.9);
    const never = call.audio.playApology();
    await call.audio.close();
    await never;
    await expect(call.audio.playApology()).rejects.toMatchObject({ code: 'call_ended' });
  });
});

describe('A slow agent', () => {
  it('gets the last second of audio when it catches up', async () => {
    const { call, link } = await agentCall();
    call.ticks(2);
    link.isBehind = true;
    call.ticks(80);
    expect(link.positions.length).toBe(2);
    link.isBehind = false;
    call.ticks(1);
    expect(link.positions.length).toBe(2 + 51);
    // Positions are consecutive, since the agent counts samples as well.
    expect(link.positions.at(-1)).toBe(52 * 160);
    const { counters } = await call.audio.close();
    expect(counters?.callerFramesDropped).toBe(30);
  });
});

it('Agent stream resamples for an agent with another rate than the codec', async () => {
  const { call, link } = await agentCall({ codec: CODECS.G722 }, { dialect: 'twilio' });
  expect(link.sampleRateHz).toBe(8000);
  const phone = new Phone(CODECS.G722, tone(16_000, 1000, 16_000));
  link.handler.audio(tone(8000, 600, 16_000));
  call.ticks(100, () => call.rtp.deliver(phone.next()));
  expect(link.audio.length).toBe(16_000);
  expect(toneShare(Int16Array.from(link.audio.slice(8000)), 8000, 1000)).toBeGreaterThan(0.95);
  expect(toneShare(phone.hear(call.rtp.sent).slice(16_000), 16_000, 600)).toBeGreaterThan(0.95);
});
