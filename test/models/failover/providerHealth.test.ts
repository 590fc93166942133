import { expect, test } from 'vitest';
import { receiveReports, reportedMetrics, type ThreadReports } from '../../../src/app/voice/threadReports.ts';
import { notifierOf, serve } from '../../../src/base/threads/remote.ts';
import {
  type ProviderChange,
  ProviderHealth,
  withProviderHealth,
} from '../../../src/models/failover/providerHealth.ts';
import { portPair } from '../../support/fakeThread.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

/** The metrics of a voice thread, which reports to the main thread. */
function rig() {
  const clock = createSimulatedClock();
  const changes: ProviderChange[] = [];
  const counted: string[] = [];
  const health = new ProviderHealth({
    expected: [
      { model: 'chat', provider: 'openai' },
      { model: 'transcription', provider: 'custom' },
    ],
    clock,
    onChange: (change) => void changes.push(change),
  });
  const providerMetrics = withProviderHealth(
    (model, provider, owner) => ({
      recordError: ({ code }) => void counted.push(`${model} ${provider} ${owner} ${code}`),
      recordFirstOutput: (waitedMs) => void counted.push(`${model} ${provider} ${owner} ${waitedMs}`),
      recordOutput: () => undefined,
    }),
    health,
  );
  const [voiceThread, main] = portPair();
  const metrics = { providerMetrics, turn: () => undefined, utterance: () => undefined };
  serve(main, receiveReports(metrics, { log: () => undefined, sessionEnded: () => undefined }));
  const thread = reportedMetrics(notifierOf<ThreadReports>(voiceThread));
  return { clock, changes, counted, health, metricsOf: thread.providerMetrics };
}

const refused = {
  code: 'model_rejected' as const,
  message: 'api.example.com refuses the key: sk-12 is wrong',
};

test('A provider is degraded from a failure in a voice thread until it works again', () => {
  const { clock, changes, counted, health, metricsOf } = rig();
  expect(health.states()).toEqual({ openai: { status: 'up' }, custom_stt: { status: 'up' } });
  metricsOf('speech', 'openai').recordError(refused);
  metricsOf('chat', 'openai').recordError({ code: 'model_unavailable', message: 'away' });
  const reason = 'api.example.com refuses the key';
  expect(health.states()).toMatchObject({ openai: { status: 'degraded', reason } });
  clock.advance(9000);
  metricsOf('speech', 'openai').recordFirstOutput(120);
  expect(health.states()).toMatchObject({ openai: { status: 'degraded', reason: 'away' } });
  metricsOf('chat', 'openai').recordFirstOutput(250);
  metricsOf('chat', 'openai').recordFirstOutput(250);
  expect(health.states()).toMatchObject({ openai: { status: 'up' } });
  expect(changes).toEqual([
    { isDegraded: true, provider: 'openai', message: refused.message },
    { isDegraded: false, provider: 'openai', degradedMs: 9000 },
  ]);
  expect(counted).toContain('speech openai installation model_rejected');
});

test('Servers of one’s own are shown by what they do, and words alone tell that recognition works', () => {
  const { health, metricsOf } = rig();
  metricsOf('transcription', 'custom').recordError(refused);
  metricsOf('speech', 'custom').recordFirstOutput(10);
  expect(health.states()).toMatchObject({ custom_stt: { status: 'degraded' }, custom_tts: { status: 'up' } });
  metricsOf('transcription', 'custom').recordOutput();
  expect(health.states()).toMatchObject({ custom_stt: { status: 'up' } });
});

test('A speech-to-speech model is shown beside what else its key is for', () => {
  const { health, counted, metricsOf } = rig();
  metricsOf('speech_to_speech', 'openai-realtime').recordError(refused);
  metricsOf('speech_to_speech', 'gemini-live').recordFirstOutput(300);
  metricsOf('speech_to_speech', 'custom').recordFirstOutput(300);
  metricsOf('chat', 'openai').recordFirstOutput(250);
  const reason = 'api.example.com refuses the key';
  expect(health.states()).toEqual({
    custom_s2s: { status: 'up' },
    custom_stt: { status: 'up' },
    google: { status: 'up' },
    openai: { status: 'degraded', reason },
  });
  expect(counted).toContain('speech_to_speech gemini-live installation 300');
});

test('A project’s own key degrades nothing, and is counted', () => {
  const { health, counted, changes, metricsOf } = rig();
  metricsOf('chat', 'openai', 'project').recordError(refused);
  metricsOf('speech', 'cartesia', 'project').recordError(refused);
  metricsOf('embedding', 'text-embedding-3-small').recordError(refused);
  expect(Object.keys(health.states())).toEqual(['custom_stt', 'openai']);
  expect([health.states().openai, changes]).toEqual([{ status: 'up' }, []]);
  expect(counted).toContain('chat openai project model_rejected');
});
