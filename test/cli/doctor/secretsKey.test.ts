import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { createSealer } from '../../../src/base/sealer.ts';
import { checkSecretsKey } from '../../../src/cli/doctor/secretsKey.ts';
import { tempDir } from '../../support/tempDir.ts';

describe('The secrets key check', () => {
  const key = Buffer.alloc(32, 1);
  const { fingerprint } = createSealer(key);

  it.each([
    { title: 'none yet', settings: {}, sealedWith: undefined, status: 'ok' },
    {
      title: 'set, and the right one',
      settings: { SECRETS_KEY: key },
      sealedWith: fingerprint,
      status: 'ok',
    },
    {
      title: 'set, and another',
      settings: { SECRETS_KEY: Buffer.alloc(32, 2) },
      sealedWith: fingerprint,
      status: 'fail',
    },
    {
      title: 'set, with the right one before it',
      settings: { SECRETS_KEY: Buffer.alloc(32, 2), SECRETS_KEY_PREVIOUS: [key] },
      sealedWith: fingerprint,
      status: 'warn',
    },
    { title: 'none here, but one in the database', settings: {}, sealedWith: fingerprint, status: 'fail' },
    {
      title: 'kept beside a shared database',
      settings: { DATABASE_URL: 'postgres://h/d' },
      sealedWith: undefined,
      status: 'warn',
    },
  ])('reports $status for $title', async ({ settings, sealedWith, status }) => {
    const config = {
      SECRETS_KEY: undefined,
      SECRETS_KEY_PREVIOUS: undefined,
      DATABASE_URL: undefined,
      DATA_DIR: tempDir(),
      ...settings,
    };
    expect(await checkSecretsKey(config, sealedWith)).toMatchObject({ status });
  });

  it('reads the key in DATA_DIR, and fails when it is truncated', async () => {
    const folder = tempDir();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'secrets-key'), `${key.toString('base64url')}\n`);
    const config = {
      SECRETS_KEY: undefined,
      SECRETS_KEY_PREVIOUS: undefined,
      DATABASE_URL: undefined,
      DATA_DIR: folder,
    };
    expect(await checkSecretsKey(config, fingerprint)).toMatchObject({ status: 'ok' });

    writeFileSync(join(folder, 'secrets-key'), 'AAAA\n');
    expect(await checkSecretsKey(config, undefined)).toMatchObject({ status: 'fail' });
  });
});
