import type { ApiKeyStore } from '../../../agents/accounts/accountStores.ts';
import type { ApiKey, KeyKind, Scope } from '../../../agents/accounts/apiKey.ts';
import { isUuid } from '../../../base/values/ids.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { Queryable } from '../connection/database.ts';
import { projectRows } from '../sql/projectRows.ts';
import { isoTime, isoTimeOrNull } from '../sql/rows.ts';

interface Row {
  id: string;
  name: string;
  kind: KeyKind;
  hint: string;
  scopes: Scope[];
  created_at: Date;
  last_used_at: Date | null;
}

const COLUMNS = 'id, name, kind, hint, scopes, created_at, last_used_at';

export function apiKeyStore(database: Queryable): ApiKeyStore {
  const rows = projectRows<Row>(database, 'api_keys', COLUMNS);
  return {
    async insert(key) {
      await database.query(
        `INSERT INTO api_keys (project_id, digest, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          key.projectId,
          key.digest,
          key.id,
          key.name,
          key.kind,
          key.hint,
          key.scopes,
          key.createdAt,
          key.lastUsedAt,
        ],
      );
    },
    async list(projectId, page) {
      return mapPage(await rows.list(projectId, page), fromRow);
    },
    async findByDigest(digest) {
      const [row] = await database.query<Row & { project_id: string }>(
        `SELECT project_id, ${COLUMNS} FROM api_keys WHERE digest = $1`,
        [digest],
      );
      return (
        row && {
          kind: row.kind,
          keyId: row.id,
          hint: row.hint,
          projectId: row.project_id,
          scopes: row.scopes,
        }
      );
    },
    async remove(projectId, keyId) {
      if (!isUuid(keyId)) return undefined;
      const [row] = await database.query<{ digest: string }>(
        'DELETE FROM api_keys WHERE project_id = $1 AND id = $2 RETURNING digest',
        [projectId, keyId],
      );
      return row?.digest;
    },
    async digestsOf(projectId) {
      const rows = await database.query<{ digest: string }>(
        'SELECT digest FROM api_keys WHERE project_id = $1',
        [projectId],
      );
      return rows.map(({ digest }) => digest);
    },
    async markUsed(uses) {
      await database.query(
        `UPDATE api_keys SET last_used_at = greatest(last_used_at, used.at)
         FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::timestamptz[]) AS at) AS used
         WHERE api_keys.id = used.id`,
        [[...uses.keys()], [...uses.values()].map((at) => at.toISOString())],
      );
    },
  };
}

function fromRow(row: Row): ApiKey {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    hint: row.hint,
    scopes: row.scopes,
    createdAt: isoTime(row.created_at),
    lastUsedAt: isoTimeOrNull(row.last_used_at),
  };
}
