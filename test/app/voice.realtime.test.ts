import pino from 'pino';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { PathwayInput } from '../../src/agents/pathway/schema/pathwaySchema.ts';
import { loadConfig } from '../../src/app/settings/config.ts';
import { buildVoice } from '../../src/app/voice.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createSessionMetrics } from '../../src/observability/metrics/sessions.ts';
import { watchLeaks } from '../support/leaks.ts';
import { memoryEngine, PROJECT } from '../support/memoryEngine.ts';
import { scriptedModel } from '../support/scriptedModel.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { spoken } from '../support/spoken.ts';
import { soundMs } from '../voice/support/simulatedCall.ts';
import { createSimulatedStream } from '../voice/support/simulatedStream.ts';

let assertNoLeaks: () => Promise<void>;
let closeVoice: () => Promise<void> = async () => undefined;
beforeAll(() => {
  assertNoLeaks = watchLeaks();
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

/** Nothing here is scripted but the model: voice activity, recognition and speech are the ones that come along. */
test.each([8000, 16_000] as const)(
  'offline, a caller is heard and answered in speech at %i Hz',
  async (sampleRateHz) => {
    const answers = ['Hello. Do you want a table?', 'Gladly. A table it is.', 'Goodbye.'];
    const model = scriptedModel((_request, index) => ({ text: answers[index] ?? '' }));
    const talk = memoryEngine({ model, pathway });
    const voice = await buildVoice({
      config: loadConfig({ STT_PROVIDER: 'local', TTS_PROVIDER: 'local' }),
      conversations: talk.engine,
      history: { addEvents: async () => undefined, addMessages: async () => undefined },
      turnNotes: { put: async () => undefined, find: async () => undefined, drop: async () => undefined },
      meter: createSessionMetrics(new Registry(), systemClock.monotonicMs),
      clock: systemClock,
      logger: pino({ level: 'silent' }),
    });
    closeVoice = () => voice.close();
    const stream = createSimulatedStream({ clock: createSimulatedClock(), sampleRateHz });
    const session = { projectId: PROJECT, sessionId: 's', channel: 'phone' } as const;
    const report = voice.serve(stream, { session });
    const messages = () => talk.records.flatMap((record) => record.messages);
    /** Time passes about ten times as fast as on a call; the recogniser's processes take the time they take. */
    const pass = async (holds: () => boolean) => {
      const giveUpAt = performance.now() + 60_000;
      while (!holds()) {
        if (performance.now() > giveUpAt) throw new Error(`it came only to ${JSON.stringify(messages())}`);
        await stream.advance(20);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    };

    await pass(() => messages().length === 1);
    stream.speak(await spoken('no thank you', sampleRateHz));
    await pass(() => messages().length === 3);
    await stream.hangUp();
    expect(messages().map(({ content }) => content)).toEqual([answers[0], 'no thank you', answers[1]]);
    expect((await report).turns[1]?.latencyParts?.endpointingMs).toBeGreaterThan(200);
    expect(soundMs(stream.agentSide(), sampleRateHz)).toBeGreaterThan(2000);
  },
  120_000,
);
