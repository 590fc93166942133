import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { connect } from '../../src/cli/connection.ts';
import { tempDir } from '../support/tempDir.ts';

const TOKEN = 'set-in-the-environment-here';

function folderWith(token: string): string {
  const folder = tempDir();
  writeFileSync(join(folder, 'admin-token'), `${token}\n`);
  return folder;
}

describe('The service address', () => {
  it.each([
    { environment: {}, url: 'http://127.0.0.1:3000' },
    { environment: { PORT: '8080', HOST: '0.0.0.0' }, url: 'http://127.0.0.1:8080' },
    { environment: { HOST: '::' }, url: 'http://[::1]:3000' },
    { environment: { HOST: 'fd00::1' }, url: 'http://[fd00::1]:3000' },
    { environment: { HOST: '10.0.0.5' }, url: 'http://10.0.0.5:3000' },
    { environment: { CALLWAY_URL: 'http://127.0.0.1:9/' }, url: 'http://127.0.0.1:9' },
    { environment: { CALLWAY_URL: 'http://a.test' }, option: 'https://b.test/', url: 'https://b.test' },
  ])('is $url with $environment and $option', async ({ environment, option, url }) => {
    const connection = await connect({ environment: { ...environment, CALLWAY_ADMIN_TOKEN: TOKEN } }, option);

    expect(connection).toEqual({ url, token: TOKEN });
  });

  it('must be given when PORT is 0', async () => {
    const environment = { PORT: '0', CALLWAY_ADMIN_TOKEN: TOKEN };
    await expect(connect({ environment }, undefined)).rejects.toMatchObject({
      exitCode: 64,
      message: expect.stringContaining('--url'),
    });
  });
});

describe('The admin token', () => {
  it('from DATA_DIR is used for the configured address and for loopback', async () => {
    const environment = { DATA_DIR: folderWith('kept'), HOST: '10.0.0.5' };

    expect(await connect({ environment }, undefined)).toEqual({ url: 'http://10.0.0.5:3000', token: 'kept' });
    expect(await connect({ environment }, 'http://localhost:1')).toMatchObject({ token: 'kept' });
  });

  it('from DATA_DIR is not sent to another machine', async () => {
    const environment = { DATA_DIR: folderWith('kept') };
    await expect(connect({ environment }, 'http://elsewhere.test')).rejects.toMatchObject({
      exitCode: 77,
      message: expect.stringContaining('Set CALLWAY_ADMIN_TOKEN'),
    });
  });

  it('from the environment takes precedence; with an address, invalid settings do not matter', async () => {
    const environment = { PORT: 'x', DATA_DIR: folderWith('kept'), CALLWAY_ADMIN_TOKEN: TOKEN };
    expect(await connect({ environment }, 'http://localhost:1')).toMatchObject({ token: TOKEN });
  });

  it.each([
    { what: 'missing', folder: () => tempDir(), says: 'the first start of the service creates it' },
    { what: 'empty', folder: () => folderWith(''), says: 'is empty' },
  ])('that is $what is reported with a remedy', async ({ folder, says }) => {
    await expect(connect({ environment: { DATA_DIR: folder() } }, undefined)).rejects.toMatchObject({
      exitCode: 77,
      message: expect.stringContaining(says),
    });
  });
});
