import { isUuid } from '../../../base/values/ids.ts';
import type { Knowledgebase } from '../../../knowledge/knowledgebase.ts';
import type { KnowledgebaseStore, SearchableKnowledgebase } from '../../../knowledge/stores.ts';
import type { EmbeddingModelName } from '../../../models/ports/embedder.ts';
import type { Queryable } from '../connection/database.ts';
import { mapUniqueViolation } from '../connection/errors.ts';
import { isoTime } from '../sql/rows.ts';

interface Row {
  id: string;
  project_id: string;
  name: string;
  type: 'pgvector';
  embedding_model_name: Knowledgebase['embeddingModelName'];
  encoder: EmbeddingModelName;
  chunk_size: number;
  chunk_overlap: number;
  created_at: Date;
}

export function knowledgebaseStore(database: Queryable): KnowledgebaseStore {
  return {
    async insert(one) {
      await mapUniqueViolation(
        database.query(
          `INSERT INTO knowledgebases
             (id, project_id, name, type, embedding_model_name, encoder, chunk_size, chunk_overlap, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
          [
            one.id,
            one.projectId,
            one.name,
            one.type,
            one.embeddingModelName,
            one.encoder,
            one.chunkSize,
            one.chunkOverlap,
            one.createdAt,
          ],
        ),
        'knowledgebases_one_per_project',
        'knowledgebase_exists',
        'The project already has a knowledgebase; each project has one',
      );
    },
    async list(projectId) {
      const rows = await database.query<Row>('SELECT * FROM knowledgebases WHERE project_id = $1', [
        projectId,
      ]);
      return rows.map(fromRow);
    },
    async find(projectId, knowledgebaseId) {
      if (!isUuid(knowledgebaseId)) return undefined;
      const [row] = await database.query<Row>(
        'SELECT * FROM knowledgebases WHERE project_id = $1 AND id = $2',
        [projectId, knowledgebaseId],
      );
      return row && fromRow(row);
    },
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

function fromRow(row: Row): Knowledgebase {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    type: row.type,
    embeddingModelName: row.embedding_model_name,
    encoder: row.encoder,
    chunkSize: row.chunk_size,
    chunkOverlap: row.chunk_overlap,
    createdAt: isoTime(row.created_at),
  };
}
