import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { NegotiatedCodec } from '../../../src/media/mediaSession.ts';
import { Phone } from '../../media/support/callHarness.ts';

export interface RtpPhone {
  readonly port: number;
  /** Datagrams that came, with their time. */
  readonly received: { readonly bytes: Uint8Array; readonly atMs: number; readonly fromPort: number }[];
  readonly phone: Phone;
  /** Speaks to this port from now on, 20 ms at a time. */
  talkTo(port: number): void;
  /** Speaks to whoever speaks to it, once somebody does; resolves then with that port. */
  talkBack(): Promise<number>;
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
  socket.on('message', (bytes, { port: fromPort }) =>
    received.push({ bytes, atMs: performance.now(), fromPort }),
  );
  let timer: NodeJS.Timeout | undefined;
  const talkTo = (port: number) => {
    const startMs = performance.now();
    let sent = 0;
    clearInterval(timer);
    timer = setInterval(() => {
      for (; sent * 20 <= performance.now() - startMs; sent++) socket.send(phone.next(), port, '127.0.0.1');
    }, 5);
  };
  return {
    port: socket.address().port,
    received,
    phone,
    talkTo,
    async talkBack() {
      if (received.length === 0) await once(socket, 'message');
      const port = received[0]?.fromPort ?? 0;
      talkTo(port);
      return port;
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
