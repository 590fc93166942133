import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';

import { writeRtpHeader } from '../../src/media/rtp/packet.ts';
import { header } from '../../test/sip/support/phone.ts';
import { BenchCaller, type CallerBehaviour } from './caller.ts';

/** Times of a call's steps, in ms of this process's clock. */
interface CallTimes {
  readonly invitedMs: number;
  firstPacketMs?: number;
}

/** Phones that answer at once and play a recording: SIP on one port, audio on one port each. */
export interface Phones {
  readonly sipPort: number;
  /** By called number; the reader may clear it. */
  readonly calls: Map<string, { readonly times: CallTimes; readonly person: BenchCaller }>;
  close(): Promise<void>;
}

interface Call {
  readonly times: CallTimes;
  readonly person: BenchCaller;
  readonly socket: Socket;
  readonly packet: Uint8Array;
  readonly target: number;
  readonly beganMs: number;
  readonly answer: string;
  sent: number;
}

const PACKET_MS = 20;
const PAYLOAD_BYTES = 160;

export async function startPhones(manner: CallerBehaviour): Promise<Phones> {
  const sip = createSocket('udp4');
  sip.bind(0, '127.0.0.1');
  await once(sip, 'listening');
  const live = new Map<string, Call>();
  const calls = new Map<string, Call>();

  const take = async (text: string, from: RemoteInfo) => {
    const reply = (answer: string) => sip.send(answer, from.port, from.address);
    const callId = header(text, 'Call-ID');
    if (text.startsWith('BYE')) {
      live.get(callId)?.socket.close();
      live.delete(callId);
      return reply(answerTo(text, '200 OK'));
    }
    if (!text.startsWith('INVITE')) return;
    const known = live.get(callId);
    if (known) return reply(known.answer);
    const times = { invitedMs: performance.now() };
    const socket = createSocket({
      type: 'udp4',
      lookup: (address, _options, done) => done(null, address, 4),
    });
    const listening = once(socket, 'listening');
    socket.bind(0, '127.0.0.1');
    await listening;
    const call: Call = {
      times,
      person: new BenchCaller(manner),
      socket,
      packet: new Uint8Array(12 + PAYLOAD_BYTES),
      target: Number(/^m=audio (\d+)/m.exec(text)?.[1]),
      beganMs: performance.now(),
      answer: answerTo(text, '200 OK', sip.address().port, socket.address().port),
      sent: 0,
    };
    live.set(callId, call);
    calls.set(/^INVITE sip:([^@]+)@/.exec(text)?.[1] ?? '', call);
    socket.on('message', (bytes) => hear(call, bytes));
    reply(call.answer);
  };
  sip.on('message', (bytes, from) => void take(bytes.toString('utf8'), from));

  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (const call of live.values()) {
      while (call.beganMs + call.sent * PACKET_MS <= nowMs) speak(call, nowMs);
    }
  }, 2);
  return {
    sipPort: sip.address().port,
    calls,
    async close() {
      clearInterval(timer);
      for (const { socket } of live.values()) socket.close();
      sip.close();
    },
  };
}

function hear(call: Call, bytes: Uint8Array): void {
  const nowMs = performance.now();
  call.times.firstPacketMs ??= nowMs;
  call.person.hear(bytes.subarray(12), nowMs);
}

function speak(call: Call, nowMs: number): void {
  const { packet, sent, socket, target } = call;
  const sequenceNumber = sent & 0xffff;
  writeRtpHeader(packet, { payloadType: 0, marker: false, sequenceNumber, timestamp: sent * 160, ssrc: 7 });
  call.person.speak(packet.subarray(12), nowMs);
  socket.send(packet, target, '127.0.0.1');
  call.sent++;
}

function answerTo(request: string, status: string, sipPort?: number, rtpPort?: number): string {
  const kept = request.split('\r\n').filter((line) => /^(via|from|call-id|cseq|record-route):/i.test(line));
  const to = header(request, 'To');
  const body =
    rtpPort === undefined
      ? ''
      : `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio ${rtpPort} RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\n`;
  return [
    `SIP/2.0 ${status}`,
    ...kept,
    `To: ${to}${/;tag=/.test(to) ? '' : ';tag=bench'}`,
    ...(sipPort === undefined
      ? []
      : [`Contact: <sip:bench@127.0.0.1:${sipPort}>`, 'Content-Type: application/sdp']),
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}
