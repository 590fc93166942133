import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { prepareDatabase } from '../infra/postgres/support/databases.ts';
import { startService } from '../support/processes.ts';
import { tempDir } from '../support/tempDir.ts';

/** Files and folders that other users may use. */
function openTo(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return ['.', ...names].filter((name) => {
    const status = lstatSync(join(folder, name));
    const mode = status.mode & 0o777;
    return status.isDirectory() ? mode !== 0o700 : status.isFile() && mode !== 0o600;
  });
}

test('Nobody else can read a data folder, whatever was there before', { timeout: 120_000 }, async () => {
  const dataDir = tempDir();
  mkdirSync(join(dataDir, 'recordings', 'old'), { recursive: true });
  writeFileSync(join(dataDir, 'recordings', 'old', 'call.wav'), 'RIFF');
  await prepareDatabase(dataDir);
  expect(spawnSync('chmod', ['-R', 'a+rwX', dataDir]).status).toBe(0);
  const umask = process.umask(0);
  onTestFinished(() => void process.umask(umask));

  const service = await startService({ dataDir });
  onTestFinished(() => service.close());
  expect(openTo(dataDir)).toEqual([]);
  await service.stop();
  expect(openTo(dataDir)).toEqual([]);
});
