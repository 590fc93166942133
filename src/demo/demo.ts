import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { startGateway } from '../app/gateway.ts';
import { type Simulator, startSimulator } from '../app/simulator/simulator.ts';
import { systemClock } from '../base/values/clock.ts';
import { testAgent } from './agentTests.ts';
import { type CallTranscript, createCallTranscript } from './callTranscript.ts';
import { followCall } from './follow.ts';
import type { DemoOptions } from './options.ts';
import { startReceiver } from './receiver.ts';
import { showResults } from './results.ts';
import { AGENT_NUMBER, CALLEE_NAME, CALLEE_NUMBER, restaurantScenario, type Scenario } from './scenario.ts';
import { type Screen, seconds } from './screen.ts';
import { LATENCIES, SCRIPTED_SCENARIO } from './scripted/scriptedCall.ts';
import { startScriptedVendors } from './scripted/scriptedVendors.ts';
import { demoConfig } from './settings.ts';
import { setUpProject } from './setUp.ts';

export interface DemoDeps {
  readonly screen: Screen;
  readonly write: (text: string) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder for the data folder, the recording and the transcript. */
  readonly folder: string;
  readonly logger: Logger;
  /** Ends the demo; its reason is shown to the user. */
  readonly signal: AbortSignal;
  /** Called when everything is shown; the service runs until it resolves. */
  readonly onDone: () => Promise<void>;
}

type Closers = (() => Promise<unknown>)[];

const accepted = z.object({ success: z.literal(true), callId: z.string(), sessionId: z.string() });

/**
 * Runs the whole product once: service, carrier, project, call, recording and webhooks; or the tests of an agent.
 *
 * @throws {DemoError} When the call fails, its recording is missing, or a webhook is missing or out of order; when a
 *   test does not pass; or the signal's reason.
 */
export async function runDemo(options: DemoOptions, deps: DemoDeps): Promise<void> {
  const closers: Closers = [];
  try {
    await (options.test ? runTests(options.test, options, deps, closers) : play(options, deps, closers));
  } finally {
    for (const close of closers.reverse()) {
      await close().catch((error: unknown) => deps.logger.error({ err: error }, 'closing failed'));
    }
  }
}

async function play(options: DemoOptions, deps: DemoDeps, closers: Closers): Promise<void> {
  const { screen, signal, logger, folder } = deps;
  let callStartedMs = 0;
  const elapsedMs = () => systemClock.monotonicMs() - callStartedMs;
  const transcript = createCallTranscript(screen, elapsedMs);

  screen.title('Starting Callway on this machine');
  const adminToken = randomBytes(24).toString('hex');
  const receiver = await startReceiver();
  closers.push(() => receiver.close());
  const scenario = options.isScripted ? SCRIPTED_SCENARIO : await restaurantScenario();
  const vendorsUrl = options.isScripted ? await startVendors(deps, closers) : undefined;
  const [url, sipPort] = await Promise.all([
    startService(options, deps, { adminToken, vendorsUrl }, closers),
    options.call ? undefined : startCarrier(deps, scenario, transcript, closers),
  ]);
  signal.throwIfAborted();
  const { fromNumber = AGENT_NUMBER, toNumber = CALLEE_NUMBER } = options.call ?? {};
  const project = await setUpProject({
    baseUrl: url,
    adminToken,
    webhookUrl: receiver.url,
    trunk: options.call?.trunk ?? { host: '127.0.0.1', port: sipPort },
    fromNumber,
    scenario,
    signal,
  });
  receiver.trust(project.secret);
  screen.step('project', 'created by API with key, agent, pathway, trunk and number');

  screen.title(`${fromNumber} calls ${toNumber}`);
  callStartedMs = systemClock.monotonicMs();
  const { sessionId } = await project.api.request('POST', '/v1/calls/outbound', accepted, {
    projectId: project.id,
    fromNumber,
    toNumber,
    dynamicVariables: { name: options.call ? 'there' : CALLEE_NAME },
  });
  const isFinalized = () => receiver.events.some(({ event }) => event === 'session.finalized');
  const history = await followCall({
    project,
    sessionId,
    elapsedMs,
    screen,
    transcript,
    isFinalized,
    signal,
  });
  await showResults({ history, receiver, project, screen, folder });

  if (options.keep)
    screen.step('data', `${join(folder, 'data')}: set DATA_DIR to it to start the service with this data`);
  const whileItRan = ' while the demo was running; npm start serves http://127.0.0.1:3000/docs';
  screen.step('API', `${url}/docs${options.stay ? '' : whileItRan}`);
  if (options.showsConsole) {
    screen.step('console', `${url}/console/projects/${project.id}, sign in with ${adminToken}`);
  } else {
    screen.step(
      'console',
      'npm start serves http://127.0.0.1:3000/console; npm run demo -- --console stays open',
    );
  }
  logger.flush();
  await deps.onDone();
}

async function runTests(
  { agent, suite }: NonNullable<DemoOptions['test']>,
  options: DemoOptions,
  deps: DemoDeps,
  closers: Closers,
): Promise<void> {
  const { screen, signal, folder, write } = deps;
  screen.title('Starting Callway on this machine');
  const adminToken = randomBytes(24).toString('hex');
  const baseUrl = await startService(options, deps, { adminToken, vendorsUrl: undefined }, closers);
  await testAgent(agent, suite, { baseUrl, adminToken, folder, screen, write, signal });
  await deps.onDone();
}

/** @returns URL of the API. */
async function startService(
  options: DemoOptions,
  { environment, folder, logger, screen }: DemoDeps,
  service: { readonly adminToken: string; readonly vendorsUrl: string | undefined },
  closers: Closers,
): Promise<string> {
  const beganMs = systemClock.monotonicMs();
  const config = await demoConfig(options, environment, { folder, ...service });
  const gateway = await startGateway(config, logger);
  closers.push(() => gateway.stop());
  const models = options.useOpenAi
    ? 'models of OPENAI_BASE_URL or OpenAI'
    : options.isScripted
      ? 'scripted models'
      : 'offline models';
  screen.step(
    'service',
    `${gateway.url}, with ${models}, after ${seconds(systemClock.monotonicMs() - beganMs)}`,
  );
  return gateway.url;
}

/** @returns URL of the scripted model and speech vendors. */
async function startVendors({ screen }: DemoDeps, closers: Closers): Promise<string> {
  const vendors = await startScriptedVendors();
  closers.push(() => vendors.close());
  const { eagerEndMs, endMs, firstTokenMs, firstSampleMs } = LATENCIES;
  const turnEnds = `eager end ${eagerEndMs} ms, end ${endMs} ms`;
  screen.step(
    'vendors',
    `${turnEnds}, first token ${firstTokenMs} ms, first byte of speech ${firstSampleMs} ms`,
  );
  return vendors.url;
}

/** @returns SIP port of the carrier. */
async function startCarrier(
  { logger, screen }: DemoDeps,
  { callee }: Scenario,
  transcript: CallTranscript,
  closers: Closers,
): Promise<number> {
  const simulator: Simulator = await startSimulator({
    logger,
    voice: 'slt',
    onEvent: (_number, event) => {
      if (event.kind === 'said') transcript.calleeSaid(event.text);
      else if (event.kind === 'speech_started') transcript.agentStarted();
    },
  });
  closers.push(() => simulator.close());
  simulator.phones.set(CALLEE_NUMBER, callee);
  screen.step(
    'carrier',
    `sip:127.0.0.1:${simulator.sipPort}, with a phone: ${CALLEE_NAME}, ${CALLEE_NUMBER}`,
  );
  return simulator.sipPort;
}
