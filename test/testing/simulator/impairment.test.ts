import { expect, test } from 'vitest';
import type { Impairment, PacketIo, PacketListener } from '../../../src/media/transport/packetIo.ts';
import { impairedPacketIo } from '../../../src/testing/simulator/impairment.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const TO = { address: '127.0.0.1', port: 4000 };

/** A socket with an in-memory network: what it sent, and what its listener received. */
async function line(impairment: Partial<Impairment>, own?: Impairment) {
  const clock = createSimulatedClock();
  const sent: { atMs: number; byte: number | undefined }[] = [];
  const got: { atMs: number; byte: number | undefined }[] = [];
  let arrive: PacketListener = () => undefined;
  const inner: PacketIo = {
    bind: async ({ port }) => ({
      port,
      failures: 3,
      listen: (listener) => {
        arrive = listener;
      },
      send: (bytes) => void sent.push({ atMs: clock.monotonicMs(), byte: bytes[0] }),
      only: () => undefined,
      close: async () => undefined,
    }),
  };
  const all = own ? undefined : { lossRatio: 0, jitterMs: 0, seed: 1, ...impairment };
  const io = impairedPacketIo(inner, all, clock);
  const socket = await io.bind({ address: '127.0.0.1', port: 30_000, impairment: own });
  socket.listen((bytes) => void got.push({ atMs: clock.monotonicMs(), byte: bytes[0] }));
  return {
    clock,
    socket,
    sent,
    got,
    /** One packet in each direction every 20 ms, numbered from 0. */
    async exchange(packets: number) {
      const reused = new Uint8Array(1);
      for (let n = 0; n < packets; n += 1) {
        reused[0] = n;
        socket.send(reused, TO);
        arrive(Uint8Array.of(n), TO.address, TO.port);
        await clock.advance(20);
      }
      await clock.advance(1000);
    },
  };
}

test('Without impairment all packets pass at once', async () => {
  const { socket, sent, got, exchange } = await line({});
  await exchange(3);
  expect(sent.map(({ byte }) => byte)).toEqual([0, 1, 2]);
  expect(sent.map(({ atMs }) => atMs - (sent[0]?.atMs ?? 0))).toEqual([0, 20, 40]);
  expect(got).toEqual(sent);
  expect([socket.port, socket.failures]).toEqual([30_000, 3]);
});

test('Packets are lost in each direction, the same ones for the same seed', async () => {
  const lost = async (seed: number) => {
    const { sent, got, exchange } = await line({ lossRatio: 0.2, seed });
    await exchange(200);
    return [sent, got].map((side) => side.map(({ byte }) => byte));
  };
  const [one, same, other] = [await lost(1), await lost(1), await lost(2)];
  expect(same).toEqual(one);
  expect(other).not.toEqual(one);
  for (const side of one) {
    expect(side.length).toBeGreaterThan(140);
    expect(side.length).toBeLessThan(180);
  }
  expect(one[0]).not.toEqual(one[1]);
});

test('What one socket sends is lost and delayed as its own seed says', async () => {
  const impaired = async (seed: number) => {
    const { sent, got, exchange } = await line({}, { lossRatio: 0.1, jitterMs: 30, seed });
    await exchange(200);
    expect(got.map(({ byte }) => byte)).toEqual(Array.from({ length: 200 }, (_, n) => n));
    return sent.map(({ atMs, byte }) => [Math.round(atMs - (sent[0]?.atMs ?? 0)), byte]);
  };
  const one = await impaired(5);
  expect(one.length).toBeLessThan(195);
  expect(await impaired(5)).toEqual(one);
  expect(await impaired(6)).not.toEqual(one);
});

test('Delayed packets keep their order and their bytes', async () => {
  const { sent, got, exchange } = await line({ jitterMs: 60 });
  await exchange(100);
  for (const side of [sent, got]) {
    expect(side.map(({ byte }) => byte)).toEqual(Array.from({ length: 100 }, (_, n) => n));
    const begin = side[0]?.atMs ?? 0;
    const late = side.map(({ atMs }, n) => atMs - begin - n * 20);
    expect(Math.max(...late) - Math.min(...late)).toBeGreaterThan(30);
    expect(Math.max(...late)).toBeLessThanOrEqual(60);
  }
});

test('A closed socket sends nothing', async () => {
  const { socket, sent, got, exchange, clock } = await line({ jitterMs: 500 });
  await exchange(0);
  socket.send(Uint8Array.of(1), TO);
  await socket.close();
  await clock.advance(1000);
  expect([sent, got]).toEqual([[], []]);
});

test.each([{ lossRatio: 1.1 }, { lossRatio: Number.NaN }, { jitterMs: -1 }])(
  'The impairment %j is rejected',
  async (wrong) => {
    await expect(line(wrong)).rejects.toThrow(RangeError);
  },
);
