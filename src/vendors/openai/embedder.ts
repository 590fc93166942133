import { linkAbort } from '../../base/async/linkedAbort.ts';
import type { Embedder, OpenAiEmbeddingModelName } from '../../models/ports/embedder.ts';
import { OPENAI_EMBEDDING_MODELS } from '../../models/ports/embedder.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type { OpenAiEndpoint } from './endpoint.ts';
import { asArray, isRecord, refusalOf, toModelError } from './errors.ts';

/**
 * The texts of one request, well below what endpoints accept (2,048 texts, 300,000 tokens). Vectors of 3,072 numbers as
 * text are 4 MB.
 */
const BATCH_SIZE = 48;
const BATCH_CHARACTERS = 120_000;
const FLOAT_BYTES = 4;

type Encoding = 'base64' | 'float';

/**
 * Embeddings by an OpenAI-compatible endpoint, tried once, without a timeout. Vectors are requested in base64, a quarter
 * of their size as numbers; an endpoint that refuses that is asked for numbers from then on.
 *
 * @see https://platform.openai.com/docs/api-reference/embeddings/create
 */
export function createOpenAiEmbedder(endpoint: OpenAiEndpoint, name: OpenAiEmbeddingModelName): Embedder {
  const model = OPENAI_EMBEDDING_MODELS[name];
  let supportedEncoding: Encoding = 'base64';

  const request = async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    const encoding = supportedEncoding;
    try {
      const body = { model: name, input: [...texts], encoding_format: encoding };
      const response: unknown = await endpoint.client.embeddings.create(body, { signal });
      return readVectors(response, texts.length, model.dimensions);
    } catch (error) {
      const isRefused = /encoding_format|base64/.test(refusalOf(error)?.message ?? '');
      if (encoding === 'float' || !isRefused) throw error;
      supportedEncoding = 'float';
      return await request(texts, signal);
    }
  };

  /** Splits what is too long: a batch into smaller ones, a text into halves, whose mean is its vector. */
  const requestInParts = async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    try {
      return await request(texts, signal);
    } catch (error) {
      if (!isTooLong(refusalOf(error)?.message)) throw error;
      const [first = '', ...others] = texts;
      if (others.length > 0) {
        const middle = Math.ceil(texts.length / 2);
        const head = await requestInParts(texts.slice(0, middle), signal);
        return [...head, ...(await requestInParts(texts.slice(middle), signal))];
      }
      const middle = Math.ceil(first.length / 2);
      if (middle === first.length) throw error;
      const halves = [first.slice(0, middle), first.slice(middle)].map((half) => half.toWellFormed());
      return [meanOf(await requestInParts(halves, signal), model.dimensions)];
    }
  };

  return {
    model,
    batchSize: BATCH_SIZE,
    async embed(texts, signal) {
      signal.throwIfAborted();
      // The SDK never removes its listeners from a signal.
      const abort = linkAbort(signal);
      try {
        const vectors: Float32Array[] = [];
        for (const batch of batchesOf(texts)) vectors.push(...(await requestInParts(batch, abort.signal)));
        return vectors;
      } catch (error) {
        signal.throwIfAborted();
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

function isTooLong(refusal = ''): boolean {
  return /maximum context length|too long|max(?:imum)?[\w ]*tokens|too large/i.test(refusal);
}

/** @throws {ModelError} `model_malformed` unless there is one vector of the right length for each text. */
function readVectors(response: unknown, count: number, dimensions: number): Float32Array[] {
  const items = isRecord(response) ? asArray(response.data) : [];
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
      { retryable: false },
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
