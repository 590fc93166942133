CREATE TABLE knowledgebases (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  type text NOT NULL,
  -- What the user asked for, and what really makes the vectors: not the same where the service embeds by itself.
  embedding_model_name text NOT NULL,
  encoder text NOT NULL,
  chunk_size integer NOT NULL,
  chunk_overlap integer NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT knowledgebases_one_per_project UNIQUE (project_id)
);

CREATE TABLE datasets (
  id uuid PRIMARY KEY,
  knowledgebase_id uuid NOT NULL REFERENCES knowledgebases ON DELETE CASCADE,
  name text NOT NULL,
  mime_type text NOT NULL,
  bytes bigint NOT NULL,
  file_key text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'processing', 'ready', 'failed')),
  error text,
  -- How often somebody has begun with it, so that a file which ends every process is given up.
  attempts integer NOT NULL DEFAULT 0,
  -- Set once all of its chunks are there; from then on only vectors are missing.
  parsed_at timestamptz,
  chunk_count integer NOT NULL DEFAULT 0,
  embedded_count integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX datasets_of_knowledgebase ON datasets (knowledgebase_id, created_at, id);
CREATE INDEX datasets_unfinished ON datasets (updated_at) WHERE status IN ('pending', 'processing');

CREATE TABLE chunks (
  id uuid PRIMARY KEY,
  dataset_id uuid NOT NULL REFERENCES datasets ON DELETE CASCADE,
  knowledgebase_id uuid NOT NULL,
  position integer NOT NULL,
  content text NOT NULL,
  -- Where it stands in the document's cleaned text, in UTF-16 code units.
  start_offset integer NOT NULL,
  end_offset integer NOT NULL,
  is_enabled boolean NOT NULL DEFAULT true,
  -- English lexemes, and pairs of characters of the scripts that put no spaces between words.
  words tsvector NOT NULL,
  UNIQUE (dataset_id, position)
);
CREATE INDEX chunks_by_words ON chunks USING gin (words);

-- Written once a chunk's vector is there, and so a table of its own: updating a chunk would enter it into each of the
-- indexes anew. One column a number of dimensions, since an index takes vectors of one length.
CREATE TABLE chunk_embeddings (
  chunk_id uuid PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
  knowledgebase_id uuid NOT NULL,
  encoder text NOT NULL,
  is_enabled boolean NOT NULL,
  vector_512 vector(512),
  vector_1536 vector(1536),
  -- 16 bits a number: an index over `vector` takes 2,000 dimensions at most.
  vector_3072 halfvec(3072),
  CHECK (num_nonnulls(vector_512, vector_1536, vector_3072) = 1)
);
CREATE INDEX chunk_embeddings_of_knowledgebase ON chunk_embeddings (knowledgebase_id);
-- Vectors of different encoders are no neighbours: one index each.
CREATE INDEX chunk_embeddings_local ON chunk_embeddings USING hnsw (vector_512 vector_cosine_ops)
  WHERE encoder = 'energetic-ai-embeddings-en';
CREATE INDEX chunk_embeddings_ada_002 ON chunk_embeddings USING hnsw (vector_1536 vector_cosine_ops)
  WHERE encoder = 'text-embedding-ada-002';
CREATE INDEX chunk_embeddings_3_small ON chunk_embeddings USING hnsw (vector_1536 vector_cosine_ops)
  WHERE encoder = 'text-embedding-3-small';
CREATE INDEX chunk_embeddings_3_large ON chunk_embeddings USING hnsw (vector_3072 halfvec_cosine_ops)
  WHERE encoder = 'text-embedding-3-large';

-- Files whose dataset is gone, whoever removed it, until they are gone themselves.
CREATE TABLE file_removals (
  file_key text PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE FUNCTION note_file_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO file_removals (file_key) VALUES (OLD.file_key) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER datasets_note_file_removal AFTER DELETE ON datasets
  FOR EACH ROW EXECUTE FUNCTION note_file_removal();
