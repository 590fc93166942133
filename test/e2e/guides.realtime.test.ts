import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startSimulator } from '../../src/app/simulator/simulator.ts';
import type { BehaviourInput } from '../../src/testing/simulator/script.ts';
import { followGuide, type GuideReader, readGuide, stepsOf } from '../support/guides.ts';
import { type LoopbackServer, serveOnLoopback } from '../support/loopbackServer.ts';
import { startMcpServer, type TestMcpServer, toolNamed } from '../support/mcpServer.ts';
import { makeTempDir } from '../support/tempDir.ts';
import { startBot } from './phone/support/bot.ts';
import { phoneInstallation } from './phone/support/installation.ts';

const TIMEOUT = 180_000;

/** Endpoints of the guides' clinic. `/reports` is slower than its tool waits. */
const CLINIC: Readonly<Record<string, object | undefined>> = {
  '/slots': { slots: ['Monday at 9'] },
  '/customers/4711/bookings': { booking: { id: 'B-7' } },
};
/** How the phones of the guides react. */
const PHONES: Readonly<Record<string, BehaviourInput>> = {
  '0912345678': { kind: 'answers', afterMs: 0, script: [{ do: 'listen' }, { do: 'hang_up' }] },
  '+886912345681': { kind: 'refuses', sipCode: 603 },
  '+886912345680': { kind: 'answers', afterMs: 0, script: [], stays: true },
  '+886912345678': { kind: 'answers', afterMs: 0, script: [{ do: 'listen' }, { do: 'hang_up' }] },
  '+886912345679': {
    kind: 'answers',
    afterMs: 0,
    script: [{ do: 'wait', ms: 400 }, { do: 'beep' }],
    stays: true,
  },
};

/** The command line from its source; what it says of its progress is part of what a reader sees. */
const CALLWAY = ['tsx/esm', '../../src/cli/main.ts'].map((file) => fileURLToPath(import.meta.resolve(file)));

const installation = await phoneInstallation({ STT_PROVIDER: 'local', TTS_PROVIDER: 'local' });
const carrier = await startSimulator({ logger: pino({ level: 'silent' }) });
const bot = await startBot('twilio', afterAll);
const folder = makeTempDir();
let clinic: LoopbackServer;
let mcp: TestMcpServer;
beforeAll(async () => {
  clinic = await serveOnLoopback((request, response) => {
    const answer = CLINIC[request.url?.split('?')[0] ?? ''];
    request.resume();
    if (answer) response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    else if (request.url === '/hook') response.writeHead(204).end();
  });
  mcp = await startMcpServer();
  mcp.tools = [toolNamed('opening_hours')];
  mcp.answer = () => ({ content: [{ type: 'text', text: 'From 9 to 5.' }] });
  for (const [number, behaviour] of Object.entries(PHONES)) carrier.phones.set(number, behaviour);
});
afterAll(async () => {
  await Promise.all([carrier.close(), clinic?.close(), mcp?.close()]);
  folder.remove();
});

/** A reader with a project of their own, as after the tour. */
async function newReader(): Promise<GuideReader> {
  const { gateway } = installation();
  const project = await gateway.createProject();
  // Guides are followed at night too.
  await gateway.api('PATCH', project.path, { body: { callingHours: null } });
  return {
    folder: folder.path,
    env: {
      API: gateway.url + project.path,
      KEY: project.secretKey,
      ADMIN_TOKEN: gateway.adminToken,
      CALLWAY_URL: gateway.url,
      CALLWAY_PROJECT: project.id,
      CALLWAY_KEY: project.secretKey,
    },
    replace: [
      ['npx callway', `2>&1 node --import ${CALLWAY.join(' ')}`],
      ['http://127.0.0.1:3000', gateway.url],
      ['ws://127.0.0.1:3000', gateway.url.replace('http', 'ws')],
      ['https://clinic.example.com/mcp', mcp.url],
      ['https://clinic.example.com', `http://127.0.0.1:${clinic.port}`],
      ['wss://bot.example.com/audio', bot.url],
      ['"host": "sip.carrier.example"', `"host": "127.0.0.1", "port": ${carrier.sipPort}`],
    ],
    ids: new Map([['01a1fc95-2719-735d-83a9-345a915fa800', project.id]]),
    names: { KB: '01a1fd33-5f1c-…' },
  };
}

describe('Each command of the guide prints what the guide shows:', { timeout: TIMEOUT }, () => {
  test.each([
    'pathways-and-tools.md',
    'nodes-and-edges.md',
    'variables.md',
    'connect-a-trunk.md',
    'connect-a-pbx.md',
    'results.md',
    'change-an-agent.md',
    'watch-an-agent.md',
    'bring-your-own-bot.md',
    'recordings.md',
    'documents.md',
    'webhooks.md',
    'personal-data.md',
    'lawful-calling.md',
    'call-a-list.md',
    'test-cases.md',
  ])('%s', async (name) => {
    const guide = readGuide(name);
    expect(stepsOf(guide).length).toBeGreaterThan(0);
    await followGuide(guide, await newReader());
  });
});
