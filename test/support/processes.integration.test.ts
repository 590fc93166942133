import { existsSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { startService } from './processes.ts';
import { tempDir } from './tempDir.ts';

const entry = 'test/support/fixtures/service.ts';

test('A started service is ready and sees only the given settings', async () => {
  process.env.OPENAI_API_KEY = 'must-not-be-seen';
  onTestFinished(() => {
    delete process.env.OPENAI_API_KEY;
  });
  const service = await startService({ entry, env: { LOG_LEVEL: 'debug' } });
  onTestFinished(() => service.close());

  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  const names: string[] = JSON.parse(service.lines[0] ?? '[]');
  expect(names).toEqual(expect.arrayContaining(['DATA_DIR', 'HOST', 'LOG_LEVEL', 'PORT', 'SIP_PORT']));
  expect(names).not.toContain('OPENAI_API_KEY');

  expect(await service.stop()).toEqual({ code: 0, signal: null });
  expect(existsSync(service.dataDir)).toBe(true);
  await service.close();
  expect(existsSync(service.dataDir)).toBe(false);
});

test('A killed service leaves its data folder for the next one', async () => {
  const dataDir = tempDir();
  const service = await startService({ entry, dataDir });
  expect(await service.kill()).toEqual({ code: null, signal: 'SIGKILL' });
  await service.close();
  expect(existsSync(dataDir)).toBe(true);
});

test('Starting a service that exits before it is ready fails with its last lines', async () => {
  await expect(startService({ entry, env: { FIXTURE_FAILS: '1' } })).rejects.toThrow('DATABASE_URL is wrong');
});
