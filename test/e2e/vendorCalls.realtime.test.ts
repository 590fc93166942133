import { afterAll, describe, expect, type TestContext, test, vi } from 'vitest';
import type { AgentConfig } from '../../src/agents/agentConfig.ts';
import type { SpeechConfig } from '../../src/agents/speech/speechConfig.ts';
import { table } from '../../src/cli/table.ts';
import { concatenated } from '../../src/media/pcm16.ts';
import { parseWav } from '../../src/media/wav.ts';
import { VENDORS } from '../../src/vendors/registry.ts';
import { HEARD, serveVendors } from '../models/support/vendorServer.ts';
import { startBaresip } from '../sip/support/baresip.ts';
import { requiresSipPeers } from '../support/skips.ts';
import { synthesizeSpeech } from '../support/synthesizedSpeech.ts';
import { encodeWav } from '../support/wavFile.ts';
import { phoneInstallation } from './phone/support/installation.ts';
import { newNumber, SLOW } from './phone/support/line.ts';
import { soundSegments } from './phone/support/tones.ts';

const RATE_HZ = 8000;
/** Longer than any call: baresip hangs up at the end of its file. */
const QUIET = new Int16Array(60 * RATE_HZ);
const BETWEEN_TURNS_MS = 500;
const KEY = 'key-of-the-vendors';

/** One call for each recognizer, with every synthesizer among them. */
const PAIRS: readonly (readonly [
  NonNullable<SpeechConfig['recognition']>,
  NonNullable<SpeechConfig['synthesis']>,
])[] = [
  [{ provider: 'deepgram' }, { provider: 'elevenlabs' }],
  [{ provider: 'deepgram', model: 'nova-3' }, { provider: 'cartesia' }],
  [{ provider: 'assemblyai' }, { provider: 'deepgram' }],
  [{ provider: 'soniox' }, { provider: 'openai' }],
  [{ provider: 'openai' }, { provider: 'custom' }],
  [{ provider: 'openai', model: 'gpt-4o-transcribe' }, { provider: 'elevenlabs' }],
  [{ provider: 'custom' }, { provider: 'cartesia' }],
];

const vendors = await serveVendors(KEY);
const services = Object.entries(VENDORS).flatMap(([name, vendor]) => ('service' in vendor ? [name] : []));
const prefixes = [...services, 'custom_stt', 'custom_tts'].map((name) => name.toUpperCase());
const installation = await phoneInstallation({
  ...Object.fromEntries(
    prefixes.flatMap((prefix) => [
      [`${prefix}_API_KEY`, KEY],
      [`${prefix}_BASE_URL`, vendors.url],
    ]),
  ),
  OPENAI_API_KEY: KEY,
  OPENAI_BASE_URL: `${vendors.url}/v1`,
  EMBEDDING_PROVIDER: 'local',
});
const rows: string[][] = [];
afterAll(async () => {
  await vendors.close();
  const head = ['recognition', 'synthesis', 'heard', 'answer after ms', 'turns at the phone'];
  process.stdout.write(`\n${table([head, ...rows])}\n`);
});

describe.concurrent('a baresip call', { ...requiresSipPeers, timeout: 120_000 }, () => {
  test.for(PAIRS)('is heard by %o and answered by %o', async ([recognition, synthesis], context) => {
    const speech = { recognition, synthesis };
    const name = [recognition.provider, recognition.model].filter(Boolean).join(' ');
    await converse({ speech }, [recognition.provider, synthesis.provider], name, context);
  });

  test('is held by a speech-to-speech model', async (context) => {
    const provider = 'openai-realtime';
    await converse({ engine: { provider } }, [provider, provider], provider, context);
  });
});

/** The agent greets, hears two words and answers. @param vendors - That hear and speak. */
async function converse(
  agent: Partial<AgentConfig>,
  [recognition, synthesis]: readonly [string | undefined, string | undefined],
  name: string,
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
): Promise<void> {
  const toNumber = newNumber();
  const phone = await startBaresip({ user: `+886${toNumber.slice(1)}`, plays: encodeWav(QUIET, RATE_HZ) });
  onTestFinished(() => phone.close());
  const line = await installation().makeLine({ trunks: [{ port: phone.port }], agent });
  const call = await line.call({ toNumber });
  const historyOf = async () => (await line.api('GET', `/session-history/${call.sessionId}`)).body;
  const untilMessages = (count: number) =>
    vi.waitFor(async () => expect((await historyOf()).messages).toHaveLength(count), SLOW);
  await untilMessages(1);
  const words = await synthesizeSpeech(HEARD, RATE_HZ, 'slt');
  await phone.play(encodeWav(concatenated([words, QUIET]), RATE_HZ));
  await untilMessages(3);
  await phone.hangUp();
  await line.waitForEnd(call);
  const { messages, events } = await historyOf();
  const [, said, answer] = messages;
  expect(said).toMatchObject({ content: HEARD, speech: { recognition } });
  expect(answer.speech).toEqual({ synthesis });
  const troubles = events.filter(({ type }: { type: string }) =>
    ['error', 'provider_fallback'].includes(type),
  );
  expect(troubles).toEqual([]);
  const { samples } = parseWav(await phone.recorded());
  const turns = soundSegments(samples, RATE_HZ, BETWEEN_TURNS_MS);
  expect(turns.length).toBe(2);
  rows.push([name, synthesis ?? '', said.content, String(answer.latencyMs), String(turns.length)]);
}
