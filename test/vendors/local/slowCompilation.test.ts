import { expect, onTestFinished, test } from 'vitest';
import { createLocalEmbedder } from '../../../src/vendors/local/embedder.ts';

const SLOW_COMPILATION = `data:text/javascript,
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (...args) => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    return await instantiate(...args);
  };`;

test('Where WebAssembly is compiled slowly, the model waits for it', async () => {
  const encoder = createLocalEmbedder({ execArgv: ['--import', encodeURI(SLOW_COMPILATION)] });
  onTestFinished(() => encoder.close());
  const [vector] = await encoder.embed(['hello'], new AbortController().signal);
  expect(vector).toHaveLength(512);
});
