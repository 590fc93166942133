import type { ApiKeyStore } from '../../../agents/accounts/accountStores.ts';
import type { ApiKey } from '../../../agents/accounts/apiKey.ts';
import type { KeyPrincipal } from '../../../agents/accounts/principal.ts';
import { isUuid } from '../../../base/values/ids.ts';
import type { Queryable } from '../connection/database.ts';
import { projectRows } from '../sql/projectRows.ts';

const COLUMNS = 'id, name, kind, hint, scopes, created_at, last_used_at';

export function apiKeyStore(database: Queryable): ApiKeyStore {
  const { list, insert } = projectRows<ApiKey>(database, 'api_keys', COLUMNS);
  return {
    list,
    async insert(key) {
      await insert({
        id: key.id,
        project_id: key.projectId,
        digest: key.digest,
        name: key.name,
        kind: key.kind,
        hint: key.hint,
        scopes: key.scopes,
        created_at: key.createdAt,
        last_used_at: key.lastUsedAt,
      });
    },
    async findByDigest(digest) {
      const [row] = await database.query<KeyPrincipal>(
        `SELECT kind, id AS "keyId", hint, project_id AS "projectId", scopes FROM api_keys WHERE digest = $1`,
        [digest],
      );
      return row;
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
