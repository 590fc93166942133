import { z } from 'zod';

import { toSessionUsage } from '../../../agents/cost/usage.ts';
import { notFound } from '../../../base/errors.ts';
import { milliseconds } from '../../../base/validation.ts';
import { toReleaseName } from '../../../base/values/releaseName.ts';
import { type Call, isFinal, storedRecording } from '../../../calls/call.ts';
import type { HistoryDetail } from '../../../engine/history/historyStore.ts';
import type { MediaSamples } from '../../../media/mediaSamples.ts';
import { measurePeaks } from '../../../media/recording/peaks.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, MAX_LIST_LIMIT } from '../../schemas.ts';
import { deliveryResource } from '../projects/webhooks.ts';
import { toTranscript, transcript } from '../sessions/sessionHistory.ts';
import { CALL_PATH, callParams, showCall } from './calls.ts';

const READ = { kind: 'project', scope: 'read' } as const;

const mediaSample = z.object({
  at: z.iso.datetime().describe('End of the interval.'),
  packetsReceived: z.int(),
  packetsLost: z.int().describe('Never played: lost on the way, too late, or shed.'),
  jitterMs: milliseconds,
  mos: z.number().nullable().describe('Estimate by the E-model, 1 to 4.5; null where nothing was received.'),
  roundTripMs: milliseconds.nullable().describe('From RTCP; null where the peer sends none.'),
});

const timeline = transcript
  .extend({
    mediaSamples: z
      .object({ intervalMs: milliseconds, samples: z.array(mediaSample) })
      .nullable()
      .describe('How the caller’s audio arrived, interval by interval; null without a call.'),
    deliveries: z
      .array(deliveryResource)
      .describe('The webhooks of the session with their answers, newest first, at most 200.'),
  })
  .meta({ id: 'CallTimeline' });

const bytes = z.string().describe('A byte for each interval, 0 to 255, in base64.');
const peaks = z
  .object({
    intervalMs: z.int().describe('20 ms, or longer for a long call.'),
    caller: bytes,
    agent: bytes,
  })
  .meta({ id: 'RecordingPeaks' });

/** Registers the route of a call's page. */
export function timelineRoutes(app: App, deps: HttpDeps): void {
  timelineRoute(app, deps);
  peaksRoute(app, deps);
}

function timelineRoute(app: App, deps: HttpDeps): void {
  app.get(
    `${CALL_PATH}/timeline`,
    {
      config: { access: READ },
      schema: {
        ...about(
          'Calls',
          'Get a call’s time line',
          'All that explains a call, or a session without one: its words with their latency, its events, how its audio arrived, and its webhooks. Its SIP messages are a resource of their own, as is its waveform.',
        ),
        params: callParams.extend({ callId: z.string().describe('Of the call, or of its session.') }),
        response: { 200: timeline, ...errors() },
      },
    },
    async ({ params: { projectId, callId } }) => {
      const { call, session } = await subjectOf(deps, projectId, callId);
      const filter = { sessionId: session.sessionId };
      const [transcribed, shown, samples, deliveries] = await Promise.all([
        toTranscript(deps, projectId, session),
        call && showCall(deps, { ...call, mediaQuality: await deps.calls.control.quality(call) }),
        call && deps.calls.control.mediaSamples(call),
        deps.webhookAdmin.deliveries(projectId, filter, { limit: MAX_LIST_LIMIT, offset: 0 }),
      ]);
      return {
        ...transcribed,
        call: shown,
        recording: shown?.recording ?? undefined,
        mediaSamples: samples ? toMediaSamples(samples) : null,
        deliveries: deliveries.items.filter(({ at }) => at >= session.startedAt),
      };
    },
  );
}

/** A session id may have been used by several sessions: a call is shown with its own, an id with its newest. */
async function subjectOf(
  { storage: { stores } }: HttpDeps,
  projectId: string,
  id: string,
): Promise<{ readonly call: Call | undefined; readonly session: HistoryDetail }> {
  const call = await stores.calls.find(projectId, id);
  if (call) {
    const session = await stores.history.findInstance(projectId, call.instanceId);
    return { call, session: session ?? unkept(call) };
  }
  const session = await stores.history.find(projectId, id);
  if (!session) throw notFound('Call');
  const { callId } = session;
  return { call: callId === undefined ? undefined : await stores.calls.find(projectId, callId), session };
}

/** Returns the detail of a call whose project keeps no history. */
function unkept({ id, sessionId, release, status, createdAt, endedAt }: Call): HistoryDetail {
  return {
    sessionId,
    channel: 'phone',
    release: toReleaseName(release),
    status: isFinal(status) ? 'ended' : 'active',
    startedAt: createdAt,
    endedAt,
    callId: id,
    disposition: null,
    success: null,
    variables: {},
    messages: [],
    events: [],
    usage: toSessionUsage({}),
    cost: null,
  };
}

function toMediaSamples({ intervalMs, samples }: MediaSamples) {
  return {
    intervalMs,
    samples: samples.map(({ atMs, ...figures }) => ({ at: new Date(atMs).toISOString(), ...figures })),
  };
}

function peaksRoute(app: App, { storage: { stores }, audio: { recordings } }: HttpDeps): void {
  app.get(
    `${CALL_PATH}/peaks`,
    {
      config: { access: READ, isSearch: true },
      schema: {
        ...about(
          'Calls',
          'Get the waveform of a call’s recording',
          'The loudest sample of each side in each interval. 404 before the recording is ready.',
        ),
        params: callParams,
        response: { 200: peaks, ...errors() },
      },
    },
    async ({ params: { projectId, callId } }) => {
      const call = await stores.calls.find(projectId, callId);
      const stored = call && storedRecording(call);
      if (!stored) throw notFound('Recording');
      const known = await stores.calls.peaks(projectId, callId);
      if (known) return known;
      const recording = await recordings.store.open(stored.key);
      if (!recording) throw notFound('Recording');
      const measured = await measurePeaks(recording.stream, recording.totalBytes);
      await stores.calls.savePeaks(callId, stored.key, measured);
      return measured;
    },
  );
}
