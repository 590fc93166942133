import { type Trunk, trunkInput } from '../../../../src/calls/trunks/trunk.ts';
import type { AudioFate } from './audio.ts';
import { createGates, type Scheduler } from './gates.ts';
import { createRedis } from './leases.ts';
import { FROM, type Installation, PROJECT } from './nodes.ts';
import { createPhones } from './phones.ts';
import type { Scene } from './scenes.ts';
import { createDatabase } from './stores.ts';

const CHANNELS = 3;

/** What the nodes of a scene share, and the state of the media threads and agents. */
export function createWorld(
  scheduler: Scheduler,
  scene: Scene,
): Installation & { readonly audio: AudioFate } {
  const gates = createGates(scheduler);
  const trunks = scene.fates.map((_, index) => trunkNamed(`trunk-${index}`));
  const fates = new Map(trunks.map(({ id }, index) => [id, scene.fates[index]]));
  const number = {
    id: 'number',
    number: FROM,
    trunkIds: trunks.map(({ id }) => id),
    outboundStatus: 'active',
    inboundEnabled: true,
    record: null,
    noiseSuppression: null,
    media: null,
    startNodeId: null,
    variables: {},
    verified: true,
    createdAt: '',
    updatedAt: '',
  } as const;
  const audio: AudioFate = { refuses: false, isAgentAway: false };
  const phones = createPhones({
    gates,
    fateOf: ({ trunk, bridgeWith }) =>
      (bridgeWith ? scene.target : fates.get(trunk.id)) ?? { kind: 'silent' },
    takesRefer: scene.takesRefer,
    audio,
    numberOf: () => number,
    onError: (error, what) => {
      throw new Error(what, { cause: error });
    },
  });
  const redis = createRedis(gates);
  const stores = { database: createDatabase(), redis, recordings: new Set<string>() };
  return { gates, ...stores, phones, trunks, number, audio, maxConcurrentCalls: CHANNELS, errors: [] };
}

function trunkNamed(id: string): Trunk {
  const input = trunkInput.parse({ name: id, host: 'sip.example.com', maxChannels: CHANNELS });
  return { ...input, id, projectId: PROJECT, createdAt: '', updatedAt: '' };
}
