import { UsageTally } from '../../../src/agents/cost/usage.ts';
import type { DialectName } from '../../../src/dialects/index.ts';
import type { SpeechToText } from '../../../src/models/ports/speechToText.ts';
import { acceptStream } from '../../../src/streams/acceptStream.ts';
import type { StreamSocket } from '../../../src/streams/transport/streamSocket.ts';
import { createSpeechCache, SpeechSynthesis } from '../../../src/voice/speech/speechSynthesis.ts';
import { VoiceSession } from '../../../src/voice/voiceSession.ts';
import { candidate } from '../../models/support/candidate.ts';
import { memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import type { SimulatedClock } from '../../support/simulatedClock.ts';
import { loudActivity, scriptedVoice } from '../../voice/support/scriptedSpeech.ts';
import { ONE_NODE } from '../../voice/support/simulatedCall.ts';

/** What the agent says in every turn: eighteen words of 300 ms. */
export const ANSWER =
  'Good morning and welcome, I can tell you about our rooms, our prices and our opening hours.';
/** What every utterance of the caller is taken for. */
export const WORDS = 'I have a question about the rooms';

const recognizer: SpeechToText = {
  name: 'scripted',
  openStream: () => ({
    push: () => undefined,
    finalize: async () => ({ text: WORDS }),
    close: () => undefined,
  }),
  close: async () => undefined,
};

/** Our agent at the end of a carrier's connection, on a simulated clock. */
export function serveAgent(
  socket: StreamSocket,
  { dialect, clock, captions }: { dialect: DialectName; clock: SimulatedClock; captions?: boolean },
) {
  const onError = (error: unknown) => {
    throw error;
  };
  const model = scriptedModel(() => ({ text: ANSWER }));
  const memory = memoryEngine({ model, pathway: ONE_NODE, clock });
  const serve = async () => {
    const grant = { projectId: PROJECT, sessionId: 's', dialect, ...(captions ? { captions } : {}) };
    const stream = await acceptStream(socket, grant, { clock, onListenerError: onError });
    if (!stream) return;
    const deps = {
      voices: [candidate(scriptedVoice())],
      cache: createSpeechCache(),
      clock,
      onFailure: onError,
    };
    const session = new VoiceSession(
      {
        stream,
        engine: memory.engine,
        historyStore: {
          addEvents: async () => undefined,
          addMessages: async () => undefined,
          addHeard: async () => undefined,
          addUsage: async () => undefined,
        },
        speech: {
          speechToText: recognizer,
          synthesis: new SpeechSynthesis(deps, stream.info.sampleRateHz),
          tally: new UsageTally(),
        },
        voiceActivity: loudActivity,
        clock,
        onError,
      },
      { session: { projectId: PROJECT, sessionId: 's', channel: 'web' } },
    );
    await session.run();
    stream.close();
  };
  return { memory, ended: serve() };
}
