import type {
  ProviderCredentialStore,
  ProviderCredentials,
} from '../../../agents/speech/providerCredentials.ts';
import { mapPage } from '../../../base/values/page.ts';
import { CREDENTIAL_NAMES } from '../../../vendors/credentials.ts';
import type { Queryable } from '../connection/database.ts';
import type { SecretFields } from '../secrets/secretFields.ts';
import { queryPage } from '../sql/pages.ts';
import { isoTime } from '../sql/rows.ts';

interface Row {
  name: ProviderCredentials['name'];
  api_key: string;
  base_url: string | null;
  updated_at: Date;
}

const TABLE = 'provider_credentials';
const COLUMNS = 'name, api_key, base_url, updated_at';
/** Selects the credentials that this release knows. During an upgrade, nodes of a newer release may store others. */
const OF_PROJECT = `project_id = $1 AND name = ANY ($2::text[])`;

export function providerCredentialStore(database: Queryable, secrets: SecretFields): ProviderCredentialStore {
  const fromRow = ({ name, api_key, base_url, updated_at }: Row): ProviderCredentials => ({
    name,
    apiKey: secrets.open(api_key),
    baseUrl: base_url,
    updatedAt: isoTime(updated_at),
  });
  const read = async (projectId: string, names: readonly string[]) => {
    const sql = `SELECT ${COLUMNS} FROM ${TABLE} WHERE ${OF_PROJECT} ORDER BY name`;
    return (await database.query<Row>(sql, [projectId, names])).map(fromRow);
  };
  return {
    async put(projectId, { name, apiKey, baseUrl, updatedAt }) {
      await database.query(
        `INSERT INTO ${TABLE} (project_id, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (project_id, name) DO UPDATE
         SET api_key = excluded.api_key, base_url = excluded.base_url, updated_at = excluded.updated_at`,
        [projectId, name, secrets.seal(apiKey), baseUrl, updatedAt],
      );
    },
    async find(projectId, name) {
      const [found] = await read(projectId, [name]);
      return found;
    },
    async list(projectId, page) {
      const list = {
        name: TABLE,
        columns: COLUMNS,
        from: TABLE,
        where: OF_PROJECT,
        parameters: [projectId, CREDENTIAL_NAMES],
        order: [{ column: 'name', type: 'text' }],
        direction: 'ASC',
      } as const;
      return mapPage(await queryPage<Row>(database, list, page), fromRow);
    },
    all: (projectId) => read(projectId, CREDENTIAL_NAMES),
    async remove(projectId, name) {
      const sql = `DELETE FROM ${TABLE} WHERE project_id = $1 AND name = $2 RETURNING name`;
      return (await database.query(sql, [projectId, name])).length > 0;
    },
  };
}
