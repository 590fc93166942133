import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';

import { systemClock } from '../base/clock.ts';
import { loadConfig } from '../config/config.ts';
import { type Simulator, startSimulator } from '../gateway/simulator.ts';
import { startGateway } from '../gateway.ts';
import { parseWav } from '../media/wav/wav.ts';
import type { PersonEvent } from '../simulator/person.ts';
import { WEBHOOK_EVENT_NAMES } from '../webhooks/events.ts';
import { DemoError } from './demoError.ts';
import { endWords, followCall } from './follow.ts';
import { type History, latencyTable, transcriptText } from './history.ts';
import { addressTowards } from './localAddress.ts';
import type { DemoOptions } from './options.ts';
import { startReceiver, type WebhookReceiver } from './receiver.ts';
import { AGENT_NUMBER, CALLEE, CALLEE_NAME, CALLEE_NUMBER } from './scene.ts';
import type { Screen } from './screen.ts';
import { type DemoProject, setUpProject } from './setUp.ts';

export interface DemoDeps {
  readonly screen: Screen;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** For the data folder, the recording and the transcript. */
  readonly folder: string;
  readonly logger: Logger;
  /** Ends the demo where it stands; its reason is what the person is told. */
  readonly signal: AbortSignal;
  /** Called when all is done and shown; what it waits for keeps the service running. */
  readonly onDone: (url: string) => Promise<void>;
}

/** Kept for a user who wants to see what the API says of the call, or to call again. */
const SERVICE_SETTINGS = {
  HOST: '127.0.0.1',
  PORT: '0',
  SIP_PORT: '0',
  MEDIA_WORKERS: '1',
  LOG_LEVEL: 'info',
  ALLOW_INSECURE_WEBHOOKS: 'true',
  DRAIN_SECONDS: '2',
  FINALIZE_TIMEOUT_SECONDS: '30',
};
const OFFLINE = {
  CHAT_PROVIDER: 'local',
  STT_PROVIDER: 'local',
  TTS_PROVIDER: 'local',
  EMBEDDING_PROVIDER: 'local',
};

/**
 * Runs the whole product once: service, carrier, project, call, recording and webhooks.
 *
 * @throws {DemoError} When the call does not complete, its recording is not there, or its webhooks are not as they
 *   should be; or the signal's reason.
 */
export async function runDemo(options: DemoOptions, deps: DemoDeps): Promise<void> {
  const closers: (() => Promise<unknown>)[] = [];
  try {
    await play(options, deps, closers);
  } finally {
    for (const close of closers.reverse()) {
      await close().catch((error: unknown) => deps.logger.error({ err: error }, 'closing failed'));
    }
  }
}

async function play(
  options: DemoOptions,
  deps: DemoDeps,
  closers: (() => Promise<unknown>)[],
): Promise<void> {
  const { screen, signal, logger } = deps;
  screen.title('Callway places a phone call');
  const adminToken = randomBytes(24).toString('hex');
  const beganMs = systemClock.monotonicMs();
  let callBeganMs = beganMs;
  const elapsedMs = () => systemClock.monotonicMs() - callBeganMs;

  const receiver = await startReceiver(systemClock.now, ({ event }) => {
    logger.info({ event }, 'a webhook came');
  });
  closers.push(() => receiver.close());
  // One after the other: each takes the processor for itself while it starts.
  const gateway = await startGateway(await configOf(options, deps, adminToken), logger);
  closers.push(() => gateway.stop());
  signal.throwIfAborted();
  screen.step('service', `${gateway.url} (started in ${seconds(systemClock.monotonicMs() - beganMs)})`);

  const simulator = options.call ? undefined : await startCarrier(deps, elapsedMs);
  if (simulator) {
    closers.push(() => simulator.close());
    screen.step(
      'carrier',
      `sip:127.0.0.1:${simulator.sipPort}, with ${CALLEE_NAME}’s phone ${CALLEE_NUMBER}`,
    );
  }
  signal.throwIfAborted();
  const numbers = options.call ?? { fromNumber: AGENT_NUMBER, toNumber: CALLEE_NUMBER };
  const project = await setUpProject({
    baseUrl: gateway.url,
    adminToken,
    webhookUrl: receiver.url,
    trunk: options.call?.trunk ?? { host: '127.0.0.1', port: simulator?.sipPort },
    fromNumber: numbers.fromNumber,
    signal,
  });
  receiver.trust(project.secret);
  screen.step('project', 'a key, an agent, a pathway, a trunk and a number, all made by the API');

  screen.title(`${numbers.fromNumber} calls ${numbers.toNumber}`);
  callBeganMs = systemClock.monotonicMs();
  const { sessionId } = await project.api.request('POST', '/v1/calls/outbound', accepted, {
    projectId: project.id,
    fromNumber: numbers.fromNumber,
    toNumber: numbers.toNumber,
    dynamicVariables: { name: options.call ? 'there' : CALLEE_NAME },
  });
  const isFinalized = () => receiver.events.some(({ event }) => event === 'session.finalized');
  const history = await followCall({ project, sessionId, elapsedMs, screen, isFinalized, signal });
  await showResults(history, receiver, project, deps);
  await showPlaces(gateway.url, options, deps);
}

const accepted = z.object({ success: z.literal(true), callId: z.string(), sessionId: z.string() });

async function configOf(options: DemoOptions, { environment, folder }: DemoDeps, adminToken: string) {
  const { host, port } = options.call?.trunk ?? {};
  const given = [
    'OPENAI_API_KEY',
    'OPENAI_BASE_URL',
    'PUBLIC_IP',
    'SIP_TLS_CA_FILE',
    'SIP_TLS_VERIFY',
  ].concat(
    ['SMART', 'BALANCE', 'TURBO'].map((mode) => `CHAT_MODEL_${mode}`),
    ['STT_MODEL', 'TTS_MODEL', 'TTS_VOICE', 'MODEL_TIMEOUT_SECONDS'],
  );
  const kept = Object.fromEntries(given.map((name) => [name, environment[name]]));
  return loadConfig({
    ...(options.useOpenAi || options.call ? kept : {}),
    ...(options.useOpenAi ? {} : OFFLINE),
    ...SERVICE_SETTINGS,
    SIP_HOST: options.call
      ? (environment.SIP_HOST ?? (await addressTowards(String(host), Number(port))))
      : '127.0.0.1',
    DATA_DIR: join(folder, 'data'),
    CALLWAY_ADMIN_TOKEN: adminToken,
  });
}

async function startCarrier({ screen, logger }: DemoDeps, elapsedMs: () => number): Promise<Simulator> {
  const onEvent = (_number: string, event: PersonEvent) => {
    if (event.kind === 'said') screen.line(elapsedMs(), 'callee', event.text);
  };
  const simulator = await startSimulator({ logger, voice: 'slt', onEvent });
  simulator.phones.set(CALLEE_NUMBER, CALLEE);
  return simulator;
}

async function showResults(
  history: History,
  receiver: WebhookReceiver,
  project: DemoProject,
  { screen, folder, signal }: DemoDeps,
): Promise<void> {
  const { call, messages } = history;
  if (call.status !== 'completed') throw new DemoError(`The call did not come about: ${endWords(history)}.`);
  screen.title('Webhooks, in the order in which they came');
  for (const { event } of receiver.events) screen.step(event, 'signature verified');
  const order = receiver.events.map(({ event }) => event);
  if (order.join() !== WEBHOOK_EVENT_NAMES.join() || receiver.refused.length > 0) {
    const trouble = receiver.refused.length > 0 ? ` Refused: ${receiver.refused.join('; ')}.` : '';
    throw new DemoError(`The webhooks should be ${WEBHOOK_EVENT_NAMES.join(', ')}.${trouble}`);
  }

  screen.title('What each answer waited for, in ms');
  screen.table(latencyTable(messages));
  const { codec, packetsReceived, packetsLost, mos } = call.mediaFigures ?? {};
  screen.note(
    `${codec}, ${packetsReceived} packets received, ${packetsLost} lost, MOS ${mos?.toFixed(1) ?? 'unknown'}`,
  );

  screen.title('What is left of it');
  const transcript = join(folder, 'transcript.txt');
  await writeFile(transcript, transcriptText(messages));
  screen.step('transcript', transcript);
  const { recording } = call;
  if (recording?.status !== 'ready' || recording.url === undefined) {
    throw new DemoError(`There is no recording: ${recording?.error ?? 'it was not made ready'}.`);
  }
  signal.throwIfAborted();
  const bytes = await project.api.download(recording.url);
  const { channels, sampleRateHz, samples } = parseWav(bytes);
  const durationMs = (samples.length * 1000) / channels / sampleRateHz;
  if (channels !== 2 || durationMs === 0)
    throw new DemoError('The recording is no stereo file with sound in it.');
  const file = join(folder, 'call.wav');
  await writeFile(file, bytes);
  screen.step('recording', `${file} (${seconds(durationMs)}, callee left, agent right)`);
}

async function showPlaces(url: string, { keep, stay }: DemoOptions, { screen, folder, onDone }: DemoDeps) {
  if (keep) screen.step('data', `${join(folder, 'data')} (DATA_DIR=… npm start goes on with it)`);
  screen.step(
    'API',
    `${url}/docs${stay ? '' : ' while the demo ran; npm start serves http://127.0.0.1:3000/docs'}`,
  );
  await onDone(url);
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}
