import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

import { SECRETS_KEY_FILE, storedSecret } from '../../../src/app/settings/keptSecret.ts';
import { makeTempDir } from '../../support/tempDir.ts';

const folder = makeTempDir();
afterAll(() => folder.remove());

test('The first start makes secrets-key for its owner alone, later ones keep it, and an empty one stops the start', async () => {
  const file = join(folder.path, SECRETS_KEY_FILE);
  const made = await storedSecret(folder.path, SECRETS_KEY_FILE);
  expect(made).toEqual({ secret: readFileSync(file, 'utf8').trim(), isNew: true });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await storedSecret(folder.path, SECRETS_KEY_FILE)).toEqual({ ...made, isNew: false });
  writeFileSync(file, '');
  await expect(storedSecret(folder.path, SECRETS_KEY_FILE)).rejects.toThrow('restore it from your backup');
});
