import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { Config } from '../../app/settings/config.ts';
import { UPLOADS_FOLDER } from '../../infra/objectStore/documents/localDocuments.ts';
import { type Finding, ok, warn } from './finding.ts';

const NAME = 'documents';

/** Where uploaded documents lie, and whether some were left behind when the bucket was set. */
export async function checkUploads(config: Pick<Config, 'DATA_DIR' | 'S3_BUCKET'>): Promise<Finding> {
  if (config.S3_BUCKET === undefined) return ok(NAME, 'in DATA_DIR');
  const place = `in bucket ${config.S3_BUCKET}`;
  const folder = join(config.DATA_DIR, UPLOADS_FOLDER);
  // Without the folder nothing was ever uploaded to it.
  const left = await readdir(folder).catch(() => []);
  if (left.length === 0) return ok(NAME, place);
  return warn(
    NAME,
    `${place}, but ${left.length} from before S3_BUCKET was set ${left.length === 1 ? 'lies' : 'lie'} in ${folder}`,
    'Keep that folder on a node of the role worker: only nodes that have it can read those documents, and delete them.',
  );
}
