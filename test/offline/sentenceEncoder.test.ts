import { expect, onTestFinished, test } from 'vitest';
import { createSentenceEncoder } from '../../offline/sentenceEncoder.ts';
import { startThread } from '../../src/base/threads/thread.ts';

const SLOW_COMPILATION = `data:text/javascript,
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (...args) => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    return await instantiate(...args);
  };`;

test('Where WebAssembly is compiled slowly, the model waits for it', async () => {
  const encoder = createSentenceEncoder((module) =>
    startThread(module, { execArgv: ['--import', encodeURI(SLOW_COMPILATION)] }),
  );
  onTestFinished(() => encoder.close());
  const [vector] = await encoder.embed(['hello'], new AbortController().signal);
  expect(vector).toHaveLength(512);
});
