import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { Config } from '../../app/settings/config.ts';
import { UPLOADS_FOLDER } from '../../infra/objectStore/documents/localDocuments.ts';
import { type Finding, ok, warn } from './finding.ts';

type StoreSettings = Pick<
  Config,
  | 'DATABASE_URL'
  | 'NODE_URL'
  | 'S3_BUCKET'
  | 'S3_REGION'
  | 'S3_ENDPOINT'
  | 'S3_ACCESS_KEY_ID'
  | 'S3_SECRET_ACCESS_KEY'
>;

/** Checks that the settings for recordings are consistent; sends no request to the object store. */
export function checkRecordings(config: StoreSettings): Finding {
  const name = 'recordings';
  if (config.S3_BUCKET === undefined) {
    const unused = (['S3_ENDPOINT', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const).filter(
      (setting) => config[setting] !== undefined,
    );
    if (unused.length === 0) return ok(name, localRecordings(config));
    return warn(
      name,
      `${unused.join(', ')} has no effect without S3_BUCKET`,
      'Set S3_BUCKET, or remove these settings.',
    );
  }
  const place = `bucket ${config.S3_BUCKET} in ${config.S3_ENDPOINT ?? config.S3_REGION}`;
  const credentials = config.S3_ACCESS_KEY_ID === undefined ? ", with the environment's own credentials" : '';
  return ok(name, place + credentials);
}

/** Nodes that share a database serve each other's recordings. */
function localRecordings({ DATABASE_URL, NODE_URL }: StoreSettings): string {
  if (DATABASE_URL === undefined) return 'in DATA_DIR';
  const address = NODE_URL ?? 'this machine’s own address and PORT, since NODE_URL is not set';
  return `in the DATA_DIR of the node that ran the call; other nodes read those of this node at ${address}`;
}

/** Checks where uploaded documents are stored, and whether documents from before S3_BUCKET was set remain. */
export async function checkDocuments(config: Pick<Config, 'DATA_DIR' | 'S3_BUCKET'>): Promise<Finding> {
  const name = 'documents';
  if (config.S3_BUCKET === undefined) return ok(name, 'in DATA_DIR');
  const place = `in bucket ${config.S3_BUCKET}`;
  const folder = join(config.DATA_DIR, UPLOADS_FOLDER);
  // Without the folder there have been no uploads.
  const remaining = await readdir(folder).catch(() => []);
  if (remaining.length === 0) return ok(name, place);
  const documents = remaining.length === 1 ? '1 document' : `${remaining.length} documents`;
  return warn(
    name,
    `${place}; ${documents} from before S3_BUCKET was set remain in ${folder}`,
    'Keep that folder on a node with the role worker: only such a node can read and delete these documents.',
  );
}
