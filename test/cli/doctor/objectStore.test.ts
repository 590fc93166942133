import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/app/settings/config.ts';
import { checkObjectStore } from '../../../src/cli/doctor/objectStore.ts';

describe('recordings', () => {
  it.each([
    { settings: {}, status: 'ok', says: 'in DATA_DIR' },
    { settings: { S3_BUCKET: 'b' }, status: 'ok', says: "the environment's own credentials" },
    {
      settings: { S3_BUCKET: 'b', S3_ENDPOINT: 'http://s.test' },
      status: 'ok',
      says: 'bucket b in http://s.test',
    },
    { settings: { S3_ENDPOINT: 'http://s.test' }, status: 'warn', says: 'S3_ENDPOINT without S3_BUCKET' },
  ])('with $settings: $status', ({ settings, status, says }) => {
    expect(checkObjectStore(loadConfig(settings))).toMatchObject({
      status,
      message: expect.stringContaining(says),
    });
  });
});
