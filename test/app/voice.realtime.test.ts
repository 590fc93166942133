import pino from 'pino';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { PathwayInput } from '../../src/agents/pathway/schema/pathwaySchema.ts';
import { Lifecycle } from '../../src/app/lifecycle.ts';
import type { ThreadContext } from '../../src/app/node/threadContext.ts';
import { loadConfig } from '../../src/app/settings/config.ts';
import { buildVoice } from '../../src/app/voice/voice.ts';
import { systemClock } from '../../src/base/values/clock.ts';
import { ProjectCredentialCache } from '../../src/models/selection/projectCredentialCache.ts';
import { createSessionMetrics } from '../../src/observability/metrics/sessions.ts';
import { detectLeaks } from '../support/leaks.ts';
import { memoryEngine } from '../support/memoryEngine.ts';
import { scriptedModel } from '../support/scriptedModel.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { synthesizeSpeech } from '../support/synthesizedSpeech.ts';
import { soundMs } from '../voice/support/simulatedCall.ts';
import { createSimulatedStream } from '../voice/support/simulatedStream.ts';

let assertNoLeaks: () => Promise<void>;
let closeVoice: () => Promise<void> = async () => undefined;
beforeAll(() => {
  assertNoLeaks = detectLeaks();
});
afterEach(() => closeVoice());
afterAll(() => assertNoLeaks());

const pathway: PathwayInput = {
  nodes: [
    {
      id: 'start',
      type: 'start',
      data: {
        title: 'Talk',
        prompt: 'Talk.',
        expectedAnswers: ['yes please', 'no thank you', 'speak to a human'],
      },
    },
  ],
  edges: [],
};

/** Only the model is scripted: voice activity, recognition and synthesis are the offline ones. */
test.each([8000, 16_000] as const)(
  'The offline speech vendors hear and answer a caller at %i Hz',
  async (sampleRateHz) => {
    const answers = ['Hello. Do you want a table?', 'Gladly. A table it is.', 'Goodbye.'];
    const model = scriptedModel((_request, index) => ({ text: answers[index] ?? '' }));
    const memory = memoryEngine({ model, pathway });
    const lifecycle = new Lifecycle((error) => {
      throw error;
    });
    closeVoice = () => lifecycle.close();
    const context: unknown = {
      config: loadConfig({ STT_PROVIDER: 'local', TTS_PROVIDER: 'local' }),
      storage: {
        stores: {
          history: {
            addEvents: async () => undefined,
            addMessages: async () => undefined,
            addHeard: async () => undefined,
          },
          sessions: { find: async () => undefined, saveTurn: async () => undefined },
          calls: { find: async () => undefined, setAnsweringMachine: async () => undefined },
          releases: { find: async () => undefined },
        },
      },
      credentials: new ProjectCredentialCache(
        async () => [],
        systemClock,
        () => undefined,
      ),
      targetPolicy: { allowInsecureLoopback: false },
      usage: { add: () => undefined },
      turnCheckpoints: {
        put: async () => undefined,
        find: async () => undefined,
        drop: async () => undefined,
      },
      sessionMetrics: createSessionMetrics(new Registry()),
      warn: () => undefined,
      clock: systemClock,
      logger: pino({ level: 'silent' }),
      lifecycle,
    };
    const voice = await buildVoice(context as ThreadContext, memory.engine);
    const stream = createSimulatedStream({ clock: createSimulatedClock(), sampleRateHz });
    const report = voice.serve(stream);
    const messages = () => memory.records.flatMap((record) => record.messages);
    /** @param msPerFrame - Real time for 20 ms of the call: no less where the recognizer works, whose time is real. */
    const until = async (condition: () => boolean, msPerFrame: number) => {
      const giveUpAt = performance.now() + 60_000;
      while (!condition()) {
        if (performance.now() > giveUpAt) throw new Error(`timeout after ${JSON.stringify(messages())}`);
        await stream.advance(20);
        await new Promise((resolve) => setTimeout(resolve, msPerFrame));
      }
    };

    await until(() => messages().length === 1, 2);
    stream.speak(await synthesizeSpeech('no thank you', sampleRateHz));
    await until(() => messages().length === 3, 20);
    await stream.hangUp();
    expect(messages().map(({ content }) => content)).toEqual([answers[0], 'no thank you', answers[1]]);
    expect((await report).turns[1]?.latencyParts?.endpointingMs).toBeGreaterThan(200);
    expect(soundMs(stream.agentAudio(), sampleRateHz)).toBeGreaterThan(2000);
  },
  120_000,
);
