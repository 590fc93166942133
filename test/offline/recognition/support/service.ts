/** A process that recognizes an utterance without end. `PATH` leads to the recognizer. */
import { createPocketsphinx } from '../../../../offline/recognition/pocketsphinx.ts';
import { startProcess } from '../../../../src/base/childProcess.ts';

const utterance = createPocketsphinx(process.env.PATH ?? '', startProcess).open({ isNarrowband: false });
setInterval(() => utterance.push(new Int16Array(1600)), 100);
