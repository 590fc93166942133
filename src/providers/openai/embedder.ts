import { linkAbort } from '../../base/linkedAbort.ts';
import type { Embedder, OpenAiEmbeddingModelName } from '../ports/embedder.ts';
import { OPENAI_EMBEDDING_MODELS } from '../ports/embedder.ts';
import { ModelError } from '../ports/modelError.ts';
import type { OpenAiEndpoint } from './endpoint.ts';
import { refusalMessage, toModelError } from './errors.ts';
import { isRecord, listOf } from './wire.ts';

/** Well below what endpoints take at once (2,048 texts, 300,000 tokens), so that a failure costs little. */
const BATCH_SIZE = 128;
const BATCH_CHARACTERS = 120_000;
const FLOAT_BYTES = 4;

type Encoding = 'base64' | 'float';

/**
 * An encoder behind an OpenAI-compatible embeddings endpoint. It tries once: retries and time limits are the matter
 * of `createPatientEmbedder`. Vectors are asked for in base64, a quarter of their size as numbers; an endpoint that
 * does not know that is asked for numbers from then on.
 *
 * @see https://platform.openai.com/docs/api-reference/embeddings/create
 */
export function createOpenAiEmbedder(endpoint: OpenAiEndpoint, model: OpenAiEmbeddingModelName): Embedder {
  const encoder = OPENAI_EMBEDDING_MODELS[model];
  let encoding: Encoding = 'base64';

  const request = async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    const asked = encoding;
    try {
      const body = { model, input: [...texts], encoding_format: asked };
      const answer: unknown = await endpoint.client.embeddings.create(body, { signal });
      return readVectors(answer, texts.length, encoder.dimensions);
    } catch (error) {
      const complaint = refusalMessage(error);
      if (asked === 'float' || complaint === undefined || !/encoding_format|base64/.test(complaint))
        throw error;
      encoding = 'float';
      return await request(texts, signal);
    }
  };

  /** A text with more tokens than the encoder takes is embedded in halves, whose middle stands for it. */
  const requestFitting = async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    try {
      return await request(texts, signal);
    } catch (error) {
      if (!isTooLong(refusalMessage(error))) throw error;
      const [first = '', ...others] = texts;
      if (others.length > 0) {
        const middle = Math.ceil(texts.length / 2);
        const head = await requestFitting(texts.slice(0, middle), signal);
        return [...head, ...(await requestFitting(texts.slice(middle), signal))];
      }
      const middle = Math.ceil(first.length / 2);
      if (middle === first.length) throw error;
      const halves = [first.slice(0, middle), first.slice(middle)].map((half) => half.toWellFormed());
      return [meanOf(await requestFitting(halves, signal), encoder.dimensions)];
    }
  };

  return {
    model: encoder,
    batchSize: BATCH_SIZE,
    async embed(texts, outerSignal) {
      outerSignal.throwIfAborted();
      const abort = linkAbort(outerSignal);
      try {
        const vectors: Float32Array[] = [];
        for (const batch of batchesOf(texts)) vectors.push(...(await requestFitting(batch, abort.signal)));
        return vectors;
      } catch (error) {
        outerSignal.throwIfAborted();
        throw toModelError(error, endpoint, true);
      } finally {
        abort.unlink();
      }
    },
  };
}

function* batchesOf(texts: readonly string[]): Generator<string[]> {
  let batch: string[] = [];
  let characters = 0;
  for (const text of texts) {
    if (batch.length === BATCH_SIZE || (batch.length > 0 && characters + text.length > BATCH_CHARACTERS)) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(text);
    characters += text.length;
  }
  if (batch.length > 0) yield batch;
}

function isTooLong(complaint: string | undefined): boolean {
  return (
    complaint !== undefined &&
    /maximum context length|too long|max(?:imum)?[\w ]*tokens|too large/i.test(complaint)
  );
}

/** @throws {ModelError} `model_malformed` unless there is one vector of the right length for each text. */
function readVectors(answer: unknown, count: number, dimensions: number): Float32Array[] {
  const items = isRecord(answer) ? listOf(answer.data) : [];
  const vectors = new Array<Float32Array | undefined>(count);
  for (const [place, item] of items.entries()) {
    if (!isRecord(item)) continue;
    const index = typeof item.index === 'number' ? item.index : place;
    if (index < 0 || index >= count) continue;
    vectors[index] = readVector(item.embedding);
  }
  return Array.from(vectors, (vector) => {
    if (vector?.length === dimensions && vector.every(Number.isFinite)) return vector;
    const length = vector ? `one of ${vector.length} numbers` : 'none';
    throw new ModelError(
      'model_malformed',
      `The embeddings endpoint should give a vector of ${dimensions} numbers for each text, and gave ${length}`,
      { beforeFirstToken: true, retryable: false },
    );
  });
}

function readVector(embedding: unknown): Float32Array | undefined {
  if (typeof embedding === 'string') {
    const bytes = Buffer.from(embedding, 'base64');
    if (bytes.length % FLOAT_BYTES !== 0) return undefined;
    const vector = new Float32Array(bytes.length / FLOAT_BYTES);
    for (let index = 0; index < vector.length; index += 1)
      vector[index] = bytes.readFloatLE(index * FLOAT_BYTES);
    return vector;
  }
  return Array.isArray(embedding) ? Float32Array.from(embedding, Number) : undefined;
}

function meanOf(vectors: readonly Float32Array[], dimensions: number): Float32Array {
  const mean = new Float32Array(dimensions);
  for (const vector of vectors) {
    for (let index = 0; index < dimensions; index += 1)
      mean[index] = (mean[index] ?? 0) + (vector[index] ?? 0);
  }
  const length = Math.hypot(...mean) || 1;
  return mean.map((value) => value / length);
}
