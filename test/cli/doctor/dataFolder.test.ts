import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { checkDataFolder } from '../../../src/cli/doctor/dataFolder.ts';
import { lockFolder } from '../../../src/infra/files/folderLock.ts';
import { tempDir } from '../../support/tempDir.ts';

describe('The data folder check', () => {
  it('passes for a folder that does not exist yet', async () => {
    const [finding] = await checkDataFolder({ DATA_DIR: join(tempDir(), 'a', 'b') });
    expect(finding).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('will be created at the first start'),
    });
  });

  it('names the process that uses it', async () => {
    const folder = tempDir();
    expect(await checkDataFolder({ DATA_DIR: folder })).toMatchObject([{ message: `${folder}, not in use` }]);
    const release = await lockFolder(folder);
    expect(await checkDataFolder({ DATA_DIR: folder })).toMatchObject([
      { status: 'ok', message: expect.stringContaining(`in use by process ${process.pid} on `) },
    ]);
    await release();
  });

  it('fails for a file in place of the folder', async () => {
    const file = join(tempDir(), 'data');
    writeFileSync(file, '');
    expect(await checkDataFolder({ DATA_DIR: file })).toMatchObject([
      {
        status: 'fail',
        message: expect.stringContaining('ENOTDIR'),
        remedy: expect.stringContaining('DATA_DIR'),
      },
    ]);
  });

  it('fails for secrets that other users can read', async () => {
    const folder = tempDir();
    const file = join(folder, 'admin-token');
    writeFileSync(file, 'x', { mode: 0o600 });
    expect(await checkDataFolder({ DATA_DIR: folder })).toHaveLength(1);
    chmodSync(file, 0o640);
    expect(await checkDataFolder({ DATA_DIR: folder })).toMatchObject([
      { status: 'ok' },
      { status: 'fail', remedy: `chmod 600 ${file}` },
    ]);
  });
});
