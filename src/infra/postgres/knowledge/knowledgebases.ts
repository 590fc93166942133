import type { Knowledgebase } from '../../../knowledge/knowledgebase.ts';
import type { KnowledgebaseStore, SearchableKnowledgebase } from '../../../knowledge/stores.ts';
import type { Queryable } from '../connection/database.ts';
import { mapUniqueViolation } from '../connection/errors.ts';
import { projectRows } from '../sql/projectRows.ts';

const COLUMNS =
  'id, project_id, name, type, embedding_model_name, encoder, chunk_size, chunk_overlap, created_at';

export function knowledgebaseStore(database: Queryable): KnowledgebaseStore {
  const rows = projectRows<Knowledgebase>(database, 'knowledgebases', COLUMNS);
  return {
    async insert(one) {
      const inserted = rows.insert({
        id: one.id,
        project_id: one.projectId,
        name: one.name,
        type: one.type,
        embedding_model_name: one.embeddingModelName,
        encoder: one.encoder,
        chunk_size: one.chunkSize,
        chunk_overlap: one.chunkOverlap,
        created_at: one.createdAt,
      });
      const message = 'The project already has a knowledgebase; each project has one';
      await mapUniqueViolation(inserted, 'knowledgebases_one_per_project', 'knowledgebase_exists', message);
    },
    list: rows.all,
    find: rows.find,
    async findSearchable(projectId) {
      const [row] = await database.query<SearchableKnowledgebase>(
        `SELECT id, encoder,
                (SELECT coalesce(sum(embedded_count), 0)::integer FROM datasets
                 WHERE knowledgebase_id = knowledgebases.id) AS "embeddedCount"
         FROM knowledgebases WHERE project_id = $1`,
        [projectId],
      );
      return row;
    },
  };
}
