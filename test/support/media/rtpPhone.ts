import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { NegotiatedCodec } from '../../../src/media/mediaSession.ts';
import { Phone } from '../../media/session/harness.ts';

export interface RtpPhone {
  readonly port: number;
  /** Datagrams that came, with their time. */
  readonly received: { readonly bytes: Uint8Array; readonly atMs: number }[];
  readonly phone: Phone;
  /** Speaks to this port from now on, 20 ms at a time. */
  talkTo(port: number): void;
  /** Sends bytes as they are. */
  send(bytes: Uint8Array, port: number): void;
  close(): Promise<void>;
}

/** A telephone on a loopback port. @param samples - What it says, at its codec's rate, over and over. */
export async function startRtpPhone(codec: NegotiatedCodec, samples: Int16Array): Promise<RtpPhone> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const phone = new Phone(codec, samples);
  const received: RtpPhone['received'] = [];
  socket.on('message', (bytes) => received.push({ bytes, atMs: performance.now() }));
  let timer: NodeJS.Timeout | undefined;
  return {
    port: socket.address().port,
    received,
    phone,
    talkTo(port) {
      const startMs = performance.now();
      let sent = 0;
      clearInterval(timer);
      timer = setInterval(() => {
        for (; sent * 20 <= performance.now() - startMs; sent++) socket.send(phone.next(), port, '127.0.0.1');
      }, 5);
    },
    send: (bytes, port) => socket.send(bytes, port, '127.0.0.1'),
    async close() {
      clearInterval(timer);
      socket.close();
      await once(socket, 'close');
      phone.codec.close();
    },
  };
}
