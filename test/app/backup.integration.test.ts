import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { prepareDatabase } from '../infra/postgres/support/databases.ts';
import { startTestGateway } from '../support/gateway.ts';
import { makeTempDir } from '../support/tempDir.ts';

/** PGlite is started twice, which takes seconds on a busy machine. */
const TIMEOUT_MS = 180_000;

test('A copy of the data folder of a stopped service is a complete backup', {
  timeout: TIMEOUT_MS,
}, async () => {
  const [home, copy] = [makeTempDir(), makeTempDir()];
  onTestFinished(home.remove);
  onTestFinished(copy.remove);
  await prepareDatabase(home.path);
  const first = await startTestGateway({ database: 'embedded', dataDir: home.path });
  const project = await first.createProject('Kept');
  const key = project.developerKey;
  const headers = [{ key: 'authorization', value: 'Bearer of the tool' }];
  const tool = { name: 'find', http: { method: 'GET', url: 'https://example.com/', headers } };
  expect((await first.api('POST', `${project.path}/tools`, { key, body: tool })).status).toBe(201);
  const messages = [{ role: 'user', content: 'Good morning' }];
  const chat = { session_id: 'kept', messages };
  expect((await first.api('POST', `${project.path}/chat/completions`, { key, body: chat })).status).toBe(200);
  await first.stop();
  cpSync(home.path, join(copy.path, 'data'), { recursive: true });

  const second = await startTestGateway({ database: 'embedded', dataDir: join(copy.path, 'data') });
  onTestFinished(second.stop);
  expect(second.adminToken).toBe(first.adminToken);
  expect((await second.api('GET', project.path)).body.name).toBe('Kept');
  const tools = await second.api('GET', `${project.path}/tools`, { key });
  expect(tools.body.data[0].http.headers).toEqual(headers);
  const session = await second.api('GET', `${project.path}/sessions/kept`, { key });
  expect(session.body.state.messages[0]).toEqual({ role: 'user', content: 'Good morning' });
});
