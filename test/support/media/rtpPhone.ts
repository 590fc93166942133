import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { NegotiatedCodec } from '../../../src/media/mediaSession.ts';
import { Phone } from '../../media/support/callHarness.ts';

export interface RtpPhone {
  readonly port: number;
  /** With arrival times. */
  readonly received: { readonly bytes: Uint8Array; readonly atMs: number; readonly fromPort: number }[];
  readonly phone: Phone;
  /** Starts sending a packet every 20 ms to this port. */
  sendTo(port: number): void;
  /** Starts sending to the source of the first received packet. @returns That port, once the packet has arrived. */
  sendToSource(): Promise<number>;
  /** Sends bytes as they are. */
  send(bytes: Uint8Array, port: number): void;
  close(): Promise<void>;
}

/** A phone on a loopback port. @param samples - Sent in a loop, at the codec's rate. */
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
  const sendTo = (port: number) => {
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
    sendTo,
    async sendToSource() {
      if (received.length === 0) await once(socket, 'message');
      const port = received[0]?.fromPort ?? 0;
      sendTo(port);
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
