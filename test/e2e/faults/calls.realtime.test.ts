import { afterAll, beforeAll } from 'vitest';

import { type ScriptedUpstream, startScriptedUpstream } from '../../support/scriptedUpstream.ts';
import { testAttacks } from './suites/attacks.ts';
import { makeNodeClocks, setClocksApart, testClocks } from './suites/clocks.ts';
import { makeSmallDisk, modelThatFails, PATHWAY_OF_MODES, testMishaps } from './suites/mishaps.ts';
import { testStores } from './suites/stores.ts';
import { sharedRig } from './support/rig.ts';

let upstream: ScriptedUpstream | undefined;
const clocks = makeNodeClocks();
const disk = makeSmallDisk();
beforeAll(() => {
  setClocksApart(clocks);
  disk.mount();
});
// After the installation's.
afterAll(async () => {
  await upstream?.close();
  disk.remove();
  clocks.remove();
});

// One installation for all, since its processes cost more than the faults.
const rig = sharedRig({
  nodes: [
    ['api', 'worker', 'voice'],
    ['worker', 'media'],
  ],
  mediaEnv: { DATA_DIR: disk.path },
  envOfNode: clocks.envOf,
  env: { CHAT_PROVIDER: 'openai', EMBEDDING_PROVIDER: 'local', MODEL_TIMEOUT_SECONDS: '6' },
  async moreEnv() {
    upstream = await startScriptedUpstream(modelThatFails());
    return { OPENAI_BASE_URL: upstream.baseUrl, OPENAI_API_KEY: 'key' };
  },
  pathway: PATHWAY_OF_MODES,
});

testMishaps(rig, disk);
testAttacks(rig);
testStores(rig);
testClocks(rig, clocks);
