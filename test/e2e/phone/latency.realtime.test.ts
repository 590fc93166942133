import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';

import { startSimulator } from '../../../src/app/simulator/simulator.ts';
import { concatenated } from '../../../src/media/pcm16.ts';
import { parseWav, pickChannel } from '../../../src/media/wav.ts';
import { createRandom } from '../../media/support/signals.ts';
import { synthesizeSpeech } from '../../support/synthesizedSpeech.ts';
import { makeTempDir } from '../../support/tempDir.ts';
import { encodeWav } from '../../support/wavFile.ts';
import { phoneInstallation } from './support/installation.ts';
import { type Line, newNumber, type PlacedCall } from './support/line.ts';
import { soundSegments } from './support/tones.ts';
import { chatReply, speechReply, startVendor, transcriptionReply } from './support/vendor.ts';

const RATE_HZ = 8000;
/** The measurement counts from packet to packet, which is 20 ms; two figures in whole milliseconds may add one. */
const TOLERANCE_MS = 21;
/** Of at most half of the answers, where other work holds up a frame between the caller's and the agent's. */
const LATE_MS = 100;
const SAID = ['yes please', 'only the two of us', 'speak to a human', 'no thank you'];
/** Above the loudest noise of a test, far below speech. */
const AUDIBLE = 1500;
const BETWEEN_SOUNDS_MS = 300;

const REPLIES = { chat: chatReply('That is fine.'), speech: speechReply, transcription: transcriptionReply };
const vendor = await startVendor((service) => REPLIES[service]);
const installation = await phoneInstallation({
  OPENAI_BASE_URL: vendor.baseUrl,
  OPENAI_API_KEY: 'key',
  EMBEDDING_PROVIDER: 'local',
});
const carrier = await startSimulator({ logger: pino({ level: 'silent' }) });
const folder = makeTempDir();
afterAll(async () => {
  await carrier.close();
  folder.remove();
});

/** Words that break off at a loud sample, so that their end is unambiguous. */
function brokenOff(words: Int16Array): Int16Array {
  return words.subarray(0, words.findLastIndex((sample) => Math.abs(sample) > 4 * AUDIBLE) + 1);
}

/** A caller who says something every few seconds, over a line with this much hiss. */
async function talkative(noise: number): Promise<Int16Array> {
  const words = await Promise.all(SAID.map((text) => synthesizeSpeech(text, RATE_HZ, 'slt')));
  const quiet = new Int16Array(2.5 * RATE_HZ);
  const random = createRandom(7);
  return concatenated([...words.flatMap((samples) => [quiet, brokenOff(samples)]), quiet]).map((sample) =>
    Math.round(sample + noise * (2 * random() - 1)),
  );
}

interface Turn {
  readonly latencyMs: number;
  readonly latencyParts: { readonly bufferMs?: number; readonly preemptive?: string };
}

/** The answers to the caller's words, from the history and the last webhook. */
async function answersIn(line: Line, { sessionId }: PlacedCall): Promise<[Turn[], Turn[]]> {
  const { messages } = (await line.api('GET', `/session-history/${sessionId}`)).body;
  const last = installation().webhooks.forSession(sessionId).at(-1);
  const [history, webhook] = [messages, last.messages].map((all: (Turn & { role: string })[]) =>
    all.filter(({ role }, at) => at > 0 && role === 'assistant'),
  );
  return [history ?? [], webhook ?? []];
}

/** From the caller's last sample to the agent's first, for each answer. */
async function gapsIn(url: string): Promise<number[]> {
  const wav = parseWav(new Uint8Array(await (await fetch(url)).arrayBuffer()));
  const sounds = (side: 0 | 1) => soundSegments(pickChannel(wav, side), RATE_HZ, BETWEEN_SOUNDS_MS, AUDIBLE);
  const ends = sounds(0).map(({ to }) => to);
  const [_greeting, ...answers] = sounds(1).map(({ from }) => from);
  return answers.map((begin) => {
    const end = ends.findLast((at) => at < begin) ?? Number.NaN;
    return ((begin - end) * 1000) / RATE_HZ;
  });
}

describe.concurrent('turn latency', () => {
  test.each([
    ['a silent line', 0],
    ['a line that hisses at -39 dB', 640],
  ])('on %s equals what both channels of the recording show, and its parts add up', async (_line, noise) => {
    const file = join(folder.path, `caller-${noise}.wav`);
    await writeFile(file, encodeWav(await talkative(noise), RATE_HZ));
    const toNumber = newNumber();
    carrier.phones.set(toNumber, { kind: 'answers', afterMs: 0, script: [{ do: 'play', file }] });
    const line = await installation().makeLine({ trunks: [{ port: carrier.sipPort }] });
    const call = await line.call({ toNumber });
    expect(await line.waitForEnd(call)).toMatchObject({ status: 'completed', endReason: 'caller_hangup' });
    await line.waitForFinalized(call);

    const [turns, toldLater] = await answersIn(line, call);
    expect(toldLater).toEqual(turns);
    const shownMs = await gapsIn((await line.readCall(call)).recording.url);
    const told = turns.map(({ latencyMs, latencyParts }) => latencyMs - (latencyParts.bufferMs ?? 0));
    expect(told).toHaveLength(SAID.length);
    expect(shownMs).toHaveLength(SAID.length);
    const differences = shownMs.map((gapMs, index) => Math.abs((told[index] ?? Number.NaN) - gapMs));
    const exact = differences.filter((difference) => difference <= TOLERANCE_MS);
    expect(exact.length, `${differences} ms`).toBeGreaterThanOrEqual(SAID.length / 2);
    expect(Math.max(...differences)).toBeLessThanOrEqual(LATE_MS);
    for (const { latencyMs, latencyParts } of turns) {
      const { preemptive: _none, ...durations } = latencyParts;
      expect(Object.values(durations).reduce((sum, part) => sum + Number(part), 0)).toBe(latencyMs);
    }
  });
});
