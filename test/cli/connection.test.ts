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

describe('the address', () => {
  it.each([
    { environment: {}, url: 'http://127.0.0.1:3000' },
    { environment: { PORT: '8080', HOST: '0.0.0.0' }, url: 'http://127.0.0.1:8080' },
    { environment: { HOST: '::' }, url: 'http://[::1]:3000' },
    { environment: { HOST: 'fd00::1' }, url: 'http://[fd00::1]:3000' },
    { environment: { HOST: '10.0.0.5' }, url: 'http://10.0.0.5:3000' },
    { environment: { CALLWAY_URL: 'http://127.0.0.1:9/' }, url: 'http://127.0.0.1:9' },
    { environment: { CALLWAY_URL: 'http://a.test' }, option: 'https://b.test/', url: 'https://b.test' },
  ])('of $environment and $option is $url', async ({ environment, option, url }) => {
    const connection = await connect({ environment: { ...environment, CALLWAY_ADMIN_TOKEN: TOKEN } }, option);

    expect(connection).toEqual({ url, token: TOKEN });
  });

  it('must be given where the service takes any free port', async () => {
    const environment = { PORT: '0', CALLWAY_ADMIN_TOKEN: TOKEN };
    await expect(connect({ environment }, undefined)).rejects.toMatchObject({
      exitCode: 64,
      message: expect.stringContaining('--url'),
    });
  });
});

describe('the token', () => {
  it('of DATA_DIR serves the service of these settings and loopback', async () => {
    const environment = { DATA_DIR: folderWith('kept'), HOST: '10.0.0.5' };

    expect(await connect({ environment }, undefined)).toEqual({ url: 'http://10.0.0.5:3000', token: 'kept' });
    expect(await connect({ environment }, 'http://localhost:1')).toMatchObject({ token: 'kept' });
  });

  it('of DATA_DIR goes to no other machine', async () => {
    const environment = { DATA_DIR: folderWith('kept') };
    await expect(connect({ environment }, 'http://elsewhere.test')).rejects.toMatchObject({
      exitCode: 77,
      message: expect.stringContaining('Set CALLWAY_ADMIN_TOKEN'),
    });
  });

  it('of the environment wins, and wrong settings do not matter when the address is given too', async () => {
    const environment = { PORT: 'x', DATA_DIR: folderWith('kept'), CALLWAY_ADMIN_TOKEN: TOKEN };
    expect(await connect({ environment }, 'http://localhost:1')).toMatchObject({ token: TOKEN });
  });

  it.each([
    { what: 'missing', folder: () => tempDir(), says: 'the first start of the service makes it' },
    { what: 'empty', folder: () => folderWith(''), says: 'is empty' },
  ])('that is $what is reported with what to do', async ({ folder, says }) => {
    await expect(connect({ environment: { DATA_DIR: folder() } }, undefined)).rejects.toMatchObject({
      exitCode: 77,
      message: expect.stringContaining(says),
    });
  });
});
