-- Vectors of a chunk's sentences, where the encoder's vector of several sentences is near none of them. With 16 bits a
-- number a row is stored in one piece.
CREATE TABLE sentence_embeddings (
  chunk_id uuid NOT NULL REFERENCES chunks ON DELETE CASCADE,
  position smallint NOT NULL,
  knowledgebase_id uuid NOT NULL,
  vector halfvec(512) NOT NULL,
  PRIMARY KEY (chunk_id, position)
);
CREATE INDEX sentence_embeddings_of_knowledgebase ON sentence_embeddings (knowledgebase_id);

-- Ingested before sentences had vectors, or by a node of that release.
ALTER TABLE datasets ADD COLUMN needs_sentences boolean NOT NULL DEFAULT true;
UPDATE datasets SET needs_sentences = false FROM knowledgebases
  WHERE knowledgebases.id = knowledgebase_id AND encoder <> 'energetic-ai-embeddings-en';
CREATE INDEX datasets_without_sentences ON datasets (updated_at) WHERE status = 'ready' AND needs_sentences;
