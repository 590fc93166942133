import type { Config } from '../../app/settings/config.ts';
import { type Finding, ok, warn } from './finding.ts';

const NAME = 'recordings';

type Settings = Pick<
  Config,
  'S3_BUCKET' | 'S3_REGION' | 'S3_ENDPOINT' | 'S3_ACCESS_KEY_ID' | 'S3_SECRET_ACCESS_KEY'
>;

/** Whether the settings for recordings belong together; the store itself is not asked. */
export function checkObjectStore(config: Settings): Finding {
  if (config.S3_BUCKET === undefined) {
    const idle = (['S3_ENDPOINT', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const).filter(
      (name) => config[name] !== undefined,
    );
    if (idle.length === 0) return ok(NAME, 'in DATA_DIR');
    return warn(NAME, `${idle.join(', ')} without S3_BUCKET do nothing`, 'Set S3_BUCKET, or remove them.');
  }
  const place = `bucket ${config.S3_BUCKET} in ${config.S3_ENDPOINT ?? config.S3_REGION}`;
  return ok(
    NAME,
    config.S3_ACCESS_KEY_ID === undefined ? `${place}, with the environment's own credentials` : place,
  );
}
