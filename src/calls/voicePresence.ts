import type { Clock } from '../base/clock.ts';
import { repeat } from '../base/repeat.ts';
import type { VoiceNode, VoiceNodes } from './coordination.ts';

const BEAT_MS = 2000;
/** Two beats may be lost. */
export const VOICE_LEASE_MS = 6000;

export interface VoicePresenceDeps {
  readonly nodes: Pick<VoiceNodes, 'announce' | 'withdraw'>;
  readonly node: Omit<VoiceNode, 'talks'>;
  /** Streams that this node talks on at the moment. */
  readonly talks: () => number;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** Keeps the other nodes informed that this one talks, and how busy it is. */
export interface VoicePresence {
  /** The number of talks is another; said at once, so that calls that come together go to different nodes. */
  changed(): void;
  /** Calls go to other nodes from now on; those that are talked with stay. Idempotent. */
  withdraw(): Promise<void>;
}

/** Announces this node, and again as long as it lives. Rejects never: what could not be said is said with the next beat. */
export async function announceVoice(deps: VoicePresenceDeps): Promise<VoicePresence> {
  const { nodes, node, clock } = deps;
  const onError = (error: unknown) =>
    deps.onError(error, 'the other nodes were not told that this one talks');
  let isWithdrawn = false;
  let isStale = false;
  let saying: Promise<void> | undefined;
  const say = async (): Promise<void> => {
    do {
      isStale = false;
      await nodes.announce({ ...node, talks: deps.talks() }, VOICE_LEASE_MS);
    } while (isStale && !isWithdrawn);
  };
  /** One at a time, so that an older number never comes after a newer one. */
  const sayOnce = (): Promise<void> => {
    isStale = true;
    saying ??= say()
      .catch(onError)
      .finally(() => {
        saying = undefined;
      });
    return saying;
  };
  await sayOnce();
  const stop = repeat(clock, BEAT_MS, sayOnce, onError);
  let withdrawing: Promise<void> | undefined;
  const withdraw = async () => {
    isWithdrawn = true;
    await stop();
    await saying;
    await nodes.withdraw(node.nodeId).catch((error: unknown) => {
      deps.onError(error, 'the other nodes were not told that this one goes; they find out');
    });
  };
  return {
    changed() {
      if (!isWithdrawn) void sayOnce();
    },
    withdraw() {
      withdrawing ??= withdraw();
      return withdrawing;
    },
  };
}
