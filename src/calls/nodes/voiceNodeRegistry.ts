import type { Clock } from '../../base/clock.ts';
import { repeat } from '../../base/repeat.ts';

/** A node that runs voice sessions, as the nodes that run calls see it. */
export interface VoiceNode {
  readonly nodeId: string;
  /** Of its HTTP server, as other nodes reach it: `http://host:port`. */
  readonly url: string;
  /** Streams with a voice session on it. */
  readonly sessions: number;
}

/** The registered voice nodes. A registration expires with its node. */
export interface VoiceNodeRegistry {
  /** Registers the node for another `leaseMs`, or updates its registration. */
  register(node: VoiceNode, leaseMs: number): Promise<void>;
  /** The node accepts no new sessions. */
  deregister(nodeId: string): Promise<void>;
  list(): Promise<readonly VoiceNode[]>;
}

const BEAT_MS = 2000;
/** Two beats may be lost. */
export const VOICE_LEASE_MS = 6000;

export interface VoiceNodeRegistrationDeps {
  readonly nodes: Pick<VoiceNodeRegistry, 'register' | 'deregister'>;
  readonly node: Omit<VoiceNode, 'sessions'>;
  /** Streams that this node talks on at the moment. */
  readonly talks: () => number;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** Keeps the other nodes informed that this one talks, and how busy it is. */
export interface VoiceNodeRegistration {
  /** The number of talks is another; said at once, so that calls that come together go to different nodes. */
  update(): void;
  /** Calls go to other nodes from now on; those that are talked with stay. Idempotent. */
  withdraw(): Promise<void>;
}

/** Announces this node, and again as long as it lives. Rejects never: what could not be said is said with the next beat. */
export async function registerVoiceNode(deps: VoiceNodeRegistrationDeps): Promise<VoiceNodeRegistration> {
  const { nodes, node, clock } = deps;
  const onError = (error: unknown) =>
    deps.onError(error, 'the other nodes were not told that this one talks');
  let isWithdrawn = false;
  let isStale = false;
  let saying: Promise<void> | undefined;
  const say = async (): Promise<void> => {
    do {
      isStale = false;
      await nodes.register({ ...node, sessions: deps.talks() }, VOICE_LEASE_MS);
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
    await nodes.deregister(node.nodeId).catch((error: unknown) => {
      deps.onError(error, 'the other nodes were not told that this one goes; they find out');
    });
  };
  return {
    update() {
      if (!isWithdrawn) void sayOnce();
    },
    withdraw() {
      withdrawing ??= withdraw();
      return withdrawing;
    },
  };
}
