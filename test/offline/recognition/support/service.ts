/** A process that recognizes an utterance without end, and writes its words at a signal. `PATH` leads to the recognizer. */
import { createPocketsphinx } from '../../../../offline/recognition/pocketsphinx.ts';
import { startProcess } from '../../../../src/base/threads/childProcess.ts';

const utterance = createPocketsphinx(process.env.PATH ?? '', startProcess).open({ isNarrowband: false });
setInterval(() => utterance.push(new Int16Array(1600)), 100);
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, async () => console.log(await utterance.finalize(new AbortController().signal)));
