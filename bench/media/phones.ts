import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { pcmu } from '../../src/media/codecs/g711.ts';
import { writeRtpHeader } from '../../src/media/rtp/packet.ts';
import { voiced } from '../../test/media/support/signals.ts';

/** Phones that talk all the time; one timer serves all, spread over the 20 ms. */
export interface Phones {
  readonly ports: readonly number[];
  /** Packets received by all of them. */
  readonly received: () => number;
  /** Each to its own port. */
  talkTo(ports: readonly number[]): void;
  close(): Promise<void>;
}

interface Phone {
  readonly socket: Socket;
  readonly packet: Uint8Array;
  readonly ssrc: number;
  target: number;
  sent: number;
}

const FRAMES = 400;
const PACKET_MS = 20;

export async function startPhones(count: number): Promise<Phones> {
  const speech = encodedSpeech();
  let received = 0;
  const phones: Phone[] = [];
  for (let n = 0; n < count; n++) {
    const socket = createSocket({
      type: 'udp4',
      lookup: (address, _options, done) => done(null, address, 4),
    });
    const listening = once(socket, 'listening');
    socket.bind(0, '127.0.0.1');
    await listening;
    socket.on('message', () => {
      received++;
    });
    phones.push({ socket, packet: new Uint8Array(172), ssrc: 1000 + n, target: 0, sent: 0 });
  }
  let timer: NodeJS.Timeout | undefined;
  const send = (phone: Phone) => {
    const sequenceNumber = phone.sent & 0xffff;
    const timestamp = phone.sent * 160;
    writeRtpHeader(phone.packet, {
      payloadType: 0,
      marker: false,
      sequenceNumber,
      timestamp,
      ssrc: phone.ssrc,
    });
    const at = (phone.sent % FRAMES) * 160;
    phone.packet.set(speech.subarray(at, at + 160), 12);
    phone.socket.send(phone.packet, phone.target, '127.0.0.1');
    phone.sent++;
  };
  return {
    ports: phones.map(({ socket }) => socket.address().port),
    received: () => received,
    talkTo(ports) {
      phones.forEach((phone, n) => {
        phone.target = ports[n] ?? 0;
      });
      const startMs = performance.now();
      timer = setInterval(() => {
        const nowMs = performance.now();
        phones.forEach((phone, n) => {
          const beginMs = startMs + (n / count) * PACKET_MS;
          while (beginMs + phone.sent * PACKET_MS <= nowMs) send(phone);
        });
      }, 1);
    },
    async close() {
      clearInterval(timer);
      await Promise.all(
        phones.map(({ socket }) => {
          const closed = once(socket, 'close');
          socket.close();
          return closed;
        }),
      );
    },
  };
}

function encodedSpeech(): Uint8Array {
  const out = new Uint8Array(FRAMES * 160);
  pcmu.open().encode(voiced(8000, out.length), out);
  return out;
}
