import type { WebSocket } from 'ws';
import type { TextToSpeech } from '../../models/ports/textToSpeech.ts';
import { resamplerTo } from '../../voice/speech/speechSynthesis.ts';
import { DemoError } from '../demoError.ts';
import { ANSWERS, CALLEE_LINES, LATENCIES } from './scriptedCall.ts';

const INTERIM_EVERY_MS = 250;
/** A sample of the callee's voice, not of the line's noise. */
const LOUD = 650;
const SAMPLE_RATE_HZ = 24_000;
const VOICE_TIMEOUT_MS = 30_000;

/** Hears the callee's next line in whatever sounds. */
export function recognize(socket: WebSocket): void {
  let line = 0;
  let startedMs: number | undefined;
  let words = 0;
  let hasToldEager = false;
  let eager: NodeJS.Timeout | undefined;
  let end: NodeJS.Timeout | undefined;
  const tell = (message: object) => socket.send(JSON.stringify(message));
  const text = () => CALLEE_LINES[line] ?? '';
  const onSound = () => {
    const nowMs = performance.now();
    startedMs ??= nowMs;
    if (hasToldEager) tell({ type: 'turn_resumed' });
    hasToldEager = false;
    if (nowMs - startedMs >= (words + 1) * INTERIM_EVERY_MS) {
      words += 1;
      tell({ type: 'partial', text: text().split(' ').slice(0, words).join(' ') });
    }
    clearTimeout(eager);
    clearTimeout(end);
    eager = setTimeout(() => {
      hasToldEager = true;
      tell({ type: 'final', text: text() });
      tell({ type: 'end_of_turn', eager: true });
    }, LATENCIES.eagerEndMs);
    end = setTimeout(() => {
      tell({ type: 'end_of_turn', eager: false });
      line += 1;
      startedMs = undefined;
      words = 0;
      hasToldEager = false;
    }, LATENCIES.endMs);
  };
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary && line < CALLEE_LINES.length && isLoud(data)) onSound();
  });
  socket.on('close', () => {
    clearTimeout(eager);
    clearTimeout(end);
  });
}

function isLoud(samples: Buffer): boolean {
  for (let at = 0; at + 1 < samples.length; at += 8)
    if (Math.abs(samples.readInt16LE(at)) > LOUD) return true;
  return false;
}

/** Speaks each text from its first words on, since it knows how it goes on. */
export function synthesize(socket: WebSocket, speechFor: (text: string) => Promise<Buffer>): void {
  const open = new Map<string, { text: string; speech?: Promise<void> }>();
  const speak = async (id: string, text: string) => {
    const [samples] = await Promise.all([speechFor(text), wait(LATENCIES.firstSampleMs)]);
    if (open.has(id)) socket.send(samples);
  };
  const take = async (type: string, id: string, text: string) => {
    const known = open.get(id);
    if (type === 'start') open.set(id, { text: '' });
    if (type === 'cancel') open.delete(id);
    if (!known) return;
    known.text += text;
    const isWhole = type === 'flush' || ANSWERS.some((one) => one === wholeText(known.text));
    if (isWhole) known.speech ??= speak(id, known.text);
    if (type !== 'flush') return;
    await known.speech;
    if (open.delete(id)) socket.send(JSON.stringify({ type: 'done', id }));
  };
  socket.on('message', (data: Buffer) => {
    const { type, id, text = '' } = JSON.parse(String(data)) as { type: string; id: string; text?: string };
    // A text that cannot be spoken is cancelled by the service.
    take(type, id, text).catch(() => open.delete(id));
  });
}

/** The answer that begins like this; else the text. */
export function wholeText(text: string): string {
  const said = text.trim();
  return ANSWERS.find((one) => said !== '' && one.startsWith(said)) ?? said;
}

export async function speechOf(voice: TextToSpeech, text: string): Promise<Buffer> {
  const pieces: Int16Array[] = [];
  const push = resamplerTo(SAMPLE_RATE_HZ, voice.sampleRateHz, (samples) => void pieces.push(samples));
  const signal = AbortSignal.timeout(VOICE_TIMEOUT_MS);
  for await (const samples of voice.synthesize({ text }, signal)) push(samples);
  if (pieces.length === 0) throw new DemoError(`The scripted voice has not spoken “${text}”.`);
  return Buffer.concat(
    pieces.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
  );
}

function wait(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
