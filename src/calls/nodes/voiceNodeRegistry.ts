import { repeat } from '../../base/async/repeat.ts';
import type { Clock } from '../../base/values/clock.ts';

/** A node that runs voice sessions, as the nodes that run calls see it. */
export interface VoiceNode extends NodeAddress {
  /** The number of its voice sessions. */
  readonly sessions: number;
  /** True when the node is overloaded. It then gets sessions only when no other node accepts them. */
  readonly isOverloaded?: boolean;
}

export interface NodeAddress {
  readonly nodeId: string;
  /** The URL of the node's HTTP server for other nodes: `http://host:port`. */
  readonly url: string;
}

/** The registered voice nodes. A registration expires unless it is renewed. */
export interface VoiceNodeRegistry {
  /** Registers the node for another `leaseMs`, or updates its registration. */
  register(node: VoiceNode, leaseMs: number): Promise<void>;
  /** The node accepts no new sessions. */
  deregister(nodeId: string): Promise<void>;
  list(): Promise<readonly VoiceNode[]>;
}

const HEARTBEAT_MS = 2000;
/** The lease of a voice node, which survives two lost heartbeats. */
export const VOICE_LEASE_MS = 6000;

export interface VoiceNodeRegistrationDeps {
  readonly registry: VoiceNodeRegistry;
  readonly node: NodeAddress;
  readonly load: () => Omit<VoiceNode, 'nodeId' | 'url'>;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** Registers this node and its load with the other nodes. */
export class VoiceNodeRegistration {
  readonly #deps: VoiceNodeRegistrationDeps;
  #stop: () => Promise<void> = async () => undefined;
  #isStale = false;
  /** Whether a failure was told: the first of many in a row is enough. */
  #isFailing = false;
  #registering: Promise<void> | undefined;
  #withdrawing: Promise<void> | undefined;

  constructor(deps: VoiceNodeRegistrationDeps) {
    this.#deps = deps;
  }

  /** Registers this node and starts the heartbeats. Never rejects: a failed registration is repeated. */
  async start(): Promise<void> {
    await this.#register();
    this.#stop = repeat(this.#deps.clock, HEARTBEAT_MS, () => this.#register(), this.#failed);
  }

  /** The load has changed; registered at once, so that simultaneous calls go to different nodes. */
  update(): void {
    if (!this.#withdrawing) void this.#register();
  }

  /** Withdraws the node: new calls go to other nodes, running sessions stay. Idempotent. */
  withdraw(): Promise<void> {
    this.#withdrawing ??= this.#withdraw();
    return this.#withdrawing;
  }

  /** Registers the load, one registration at a time, so that an older load never replaces a newer one. */
  #register(): Promise<void> {
    this.#isStale = true;
    this.#registering ??= this.#registerUntilCurrent()
      .catch(this.#failed)
      .finally(() => {
        this.#registering = undefined;
      });
    return this.#registering;
  }

  async #registerUntilCurrent(): Promise<void> {
    const { registry, node, load } = this.#deps;
    do {
      this.#isStale = false;
      await registry.register({ ...node, ...load() }, VOICE_LEASE_MS);
    } while (this.#isStale && !this.#withdrawing);
    this.#isFailing = false;
  }

  readonly #failed = (error: unknown): void => {
    if (!this.#isFailing) this.#deps.onError(error, 'voice node not registered, retrying');
    this.#isFailing = true;
  };

  async #withdraw(): Promise<void> {
    const { registry, node, onError } = this.#deps;
    await this.#stop();
    await this.#registering;
    await registry.deregister(node.nodeId).catch((error: unknown) => {
      onError(error, 'voice node not deregistered, its registration expires');
    });
  }
}

/** Health check of a node that runs calls but no voice sessions. @throws {Error} When no voice node is registered. */
export async function requireVoiceNode(registry: VoiceNodeRegistry): Promise<void> {
  if ((await registry.list()).length === 0) throw new Error('no node with the role voice is registered');
}
