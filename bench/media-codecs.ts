/** CPU cost of each step of the audio path for one 20 ms frame. Run: `npx tsx bench/media-codecs.ts`. */

import { PlayoutQueue } from '../src/media/agentStream/playoutQueue.ts';
import { pcma, pcmu } from '../src/media/codecs/g711.ts';
import { g722 } from '../src/media/codecs/g722/g722.ts';
import { l16 } from '../src/media/codecs/l16.ts';
import { createOpus } from '../src/media/codecs/opus.ts';
import { PitchConcealer } from '../src/media/concealment/pitchConcealer.ts';
import { JitterBuffer } from '../src/media/jitter/jitterBuffer.ts';
import { createResampler, SAMPLE_RATES_HZ } from '../src/media/resample/resampler.ts';
import { RtpPacketView, writeRtpHeader } from '../src/media/rtp/packet.ts';
import { SrtpStream } from '../src/media/srtp/srtp.ts';

const WARM_UP = 2000;
const ROUNDS = 5;
const FRAMES = 4000;

/** CPU time rather than wall time, and the best of a few rounds, so that other processes do not count. */
function measure(name: string, frame: (index: number) => void): void {
  let index = 0;
  for (; index < WARM_UP; index++) frame(index);
  let bestUs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    for (let n = 0; n < FRAMES; n++) frame(index++);
    const { user, system } = process.cpuUsage(before);
    bestUs = Math.min(bestUs, (user + system) / FRAMES);
  }
  console.log(`${name.padEnd(36)} ${bestUs.toFixed(2).padStart(8)} µs`);
}

const speech = (rateHz: number) =>
  Int16Array.from({ length: rateHz }, (_, n) => 8000 * Math.sin(n / 9) + 4000 * Math.sin(n / 2.3));

for (const format of [pcmu, pcma, g722, createOpus(), l16(16_000)]) {
  const codec = format.open();
  const samples = speech(format.sampleRateHz);
  const frame = format.sampleRateHz / 50;
  const packet = new Uint8Array(format.maxBytesPer20Ms);
  const out = new Int16Array(frame);
  const part = (index: number) => samples.subarray((index % 50) * frame, ((index % 50) + 1) * frame);
  measure(`${format.name} encode`, (index) => codec.encode(part(index), packet));
  const payload = packet.subarray(0, codec.encode(part(1), packet));
  measure(`${format.name} decode`, () => codec.decode(payload, out));
  codec.close();
}

for (const from of SAMPLE_RATES_HZ) {
  for (const to of SAMPLE_RATES_HZ) {
    if (from === to) continue;
    const resampler = createResampler(from, to, from / 50);
    const input = speech(from).subarray(0, from / 50);
    const output = new Int16Array(to / 50);
    measure(`resample ${from} to ${to}`, () => resampler.process(input, output));
  }
}

{
  const buffer = new JitterBuffer({ codec: pcmu.open(), concealer: new PitchConcealer(8000) });
  const payload = new Uint8Array(160).fill(0xff);
  const out = new Int16Array(160);
  measure('jitter buffer insert and pull, PCMU', (index) => {
    buffer.insert(index & 0xffff, index * 160, payload, index * 20);
    buffer.pull(index * 20 + 5, out);
  });
}

{
  const concealer = new PitchConcealer(8000);
  const samples = speech(8000);
  const out = new Int16Array(160);
  measure('concealment, one frame in two lost', (index) => {
    out.set(samples.subarray((index % 50) * 160, ((index % 50) + 1) * 160));
    if (index % 2 === 0) concealer.received(out);
    else concealer.conceal(out);
  });
}

{
  const queue = new PlayoutQueue({ sampleRateHz: 8000, onMark: () => {} });
  const chunk = speech(8000);
  const out = new Int16Array(160);
  measure('playout pull', (index) => {
    if (index % 50 === 0) queue.enqueue(chunk);
    queue.pull(out);
  });
}

{
  const masterKey = { key: new Uint8Array(16).fill(1), salt: new Uint8Array(14).fill(2) };
  const parameters = { suite: 'AES_CM_128_HMAC_SHA1_80', masterKey } as const;
  const [sender, receiver] = [new SrtpStream(parameters), new SrtpStream(parameters)];
  const packet = new Uint8Array(12 + 160 + sender.overheadBytes);
  const header = (index: number) =>
    writeRtpHeader(packet, {
      payloadType: 0,
      marker: false,
      sequenceNumber: index,
      timestamp: index * 160,
      ssrc: 9,
    });
  measure('SRTP protect', (index) => {
    header(index);
    sender.protect(packet, 172);
  });
  let sequence = 0;
  const peer = new SrtpStream(parameters);
  measure('SRTP protect and unprotect', () => {
    header(sequence++);
    receiver.unprotect(packet.subarray(0, peer.protect(packet, 172)));
  });
  const view = new RtpPacketView();
  measure('RTP header write and read', (index) => {
    header(index);
    view.read(packet);
    view.payload();
  });
}
