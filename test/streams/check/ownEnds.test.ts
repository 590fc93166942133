import { describe, expect, test } from 'vitest';

import { AgentConnection } from '../../../src/media/agentStream/agentConnection.ts';
import type { SpeechToText } from '../../../src/providers/ports/speechToText.ts';
import { acceptStream } from '../../../src/streams/acceptStream.ts';
import { carrierDialectNames } from '../../../src/streams/check/carrierDialects.ts';
import { checkBot } from '../../../src/streams/check/checkBot.ts';
import { checkGateway } from '../../../src/streams/check/checkGateway.ts';
import type { Finding } from '../../../src/streams/check/finding.ts';
import { SocketStreamClient } from '../../../src/streams/connectStream.ts';
import { clientDialectNames, findClientDialect } from '../../../src/streams/dialects/index.ts';
import { createSpeechCache, SpeechSynthesis } from '../../../src/voice/speech/speechSynthesis.ts';
import { VoiceSession } from '../../../src/voice/voiceSession.ts';
import { memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';
import { loudActivity, scriptedVoice } from '../../voice/support/scriptedSpeech.ts';
import { ONE_NODE } from '../../voice/support/simulatedCall.ts';
import { drive, type MemorySocket, memorySockets } from '../support/memorySockets.ts';

const STREAM_ID = '0198c3a4-7d1e-7c3b-9f00-000000000001';
const GREETING =
  'Good morning and welcome, I can tell you about our rooms, our prices and our opening hours.';

const failures = (findings: readonly Finding[]) => findings.filter(({ status }) => status === 'fail');
const passed = (findings: readonly Finding[]) =>
  findings.filter(({ status }) => status === 'pass').map(({ check }) => check);

/** Hears the same words whenever the caller speaks. */
const recognizer: SpeechToText = {
  name: 'scripted',
  openStream: () => ({
    push: () => undefined,
    finalize: async () => ({ text: 'I have a question about the rooms' }),
    close: () => undefined,
  }),
  close: async () => undefined,
};

/** Our agent at the end of a carrier's connection. */
async function serveAgent(
  socket: MemorySocket,
  dialect: (typeof carrierDialectNames)[number],
  clock: SimulatedClock,
) {
  const onListenerError = (error: unknown) => {
    throw error;
  };
  const grant = { projectId: PROJECT, sessionId: 's', dialect };
  const stream = await acceptStream(socket, grant, { clock, onListenerError });
  if (!stream) throw new Error('the stream was refused');
  const memory = memoryEngine({ model: scriptedModel(() => ({ text: GREETING })), pathway: ONE_NODE, clock });
  const deps = {
    textToSpeech: scriptedVoice(),
    cache: createSpeechCache(),
    clock,
    onFailure: onListenerError,
  };
  const session = new VoiceSession(
    {
      stream,
      engine: memory.engine,
      historyStore: { addEvents: async () => undefined, addMessages: async () => undefined },
      speechToText: recognizer,
      synthesis: new SpeechSynthesis(deps, stream.info.sampleRateHz),
      voiceActivity: loudActivity,
      clock,
      onError: onListenerError,
    },
    { session: { projectId: PROJECT, sessionId: 's', channel: 'web' } },
  );
  await session.run();
  stream.close();
}

describe('Our agent is a right bot', () => {
  test.each(carrierDialectNames)('in %s', async (dialect) => {
    const clock = createSimulatedClock();
    const [socket, end] = memorySockets();
    const agent = serveAgent(end, dialect, clock);
    const findings = await drive(
      clock,
      checkBot({
        ...{ dialect, socket, clock, sampleRateHz: 8000, durationMs: 8000 },
        target: { streamId: STREAM_ID, customParameters: {} },
        speech: new Int16Array(8000).fill(8000),
      }),
    );
    await drive(clock, agent);
    expect(failures(findings)).toEqual([]);
    const hasMarks = dialect !== 'audiosocket';
    expect(passed(findings)).toEqual([
      ...['messages', 'audio', 'formats', 'pacing', ...(hasMarks ? ['marks', 'clear'] : [])],
      ...['keys', 'closing'],
    ]);
  });
});

describe('Our gateway plays a carrier right', () => {
  test.each(clientDialectNames)('in %s', async (dialect) => {
    const clock = createSimulatedClock();
    const [socket, end] = memorySockets();
    const running = checkGateway({ dialect, socket, clock });
    const connection = new AgentConnection(8000, {
      onCommand: ({ kind }) => kind === 'hangup' && void connection.close(1000, 'the agent hung up'),
      onFailoverPrompts: () => undefined,
      onClosed: () => undefined,
    });
    const target = {
      ...{ url: '', dialect, streamId: STREAM_ID, callId: 'CA1', canReconnect: false },
      customParameters: { name: 'Ada' },
    };
    const request = { target, sampleRateHz: 8000, signal: new AbortController().signal } as const;
    const ends = new SocketStreamClient(end, findClientDialect(dialect), request, connection.handler, {
      clock,
    });
    connection.open(ends);
    const frame = new Int16Array(160);
    const findings = await drive(clock, running, () => {
      connection.sendCaller(new Int16Array(160));
      connection.pullAgent(frame);
      connection.sendAnswers(0);
    });
    expect(failures(findings)).toEqual([]);
    const hasMarks = dialect !== 'audiosocket';
    expect(passed(findings)).toEqual([
      ...['start', 'messages', 'audio', 'pacing', ...(hasMarks ? ['marks', 'clear'] : [])],
      ...['hang-up', 'closing'],
    ]);
  });
});
