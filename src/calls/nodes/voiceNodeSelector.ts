import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { VoiceNode, VoiceNodeRegistry } from './voiceNodeRegistry.ts';

export interface VoiceNodeSelectorDeps {
  readonly registry: VoiceNodeRegistry;
  /** The voice threads of this node, as they are now; absent without the role `voice`. */
  readonly own?: () => readonly VoiceNode[];
  readonly clock: Clock;
  /** Returns a random number from 0 to less than 1. */
  readonly random: () => number;
}

/** A failed node's registration expires within this time; one that had a short failure is tried again after it. */
const AVOID_MS = 10_000;
/** A session that was started longer ago is counted in its node's registration. */
const UNREGISTERED_MS = 1000;
const RETRY_AFTER_SECONDS = 5;

interface Assignment {
  readonly nodeId: string;
  readonly atMs: number;
}

/** Selects the voice node for each call and audio stream of this node. */
export class VoiceNodeSelector {
  readonly #deps: VoiceNodeSelectorDeps;
  readonly #nodeOfCall = new Map<string, string>();
  readonly #avoidedUntilMs = new Map<string, number>();
  #recent: readonly Assignment[] = [];

  constructor(deps: VoiceNodeSelectorDeps) {
    this.#deps = deps;
  }

  /**
   * The least busy voice thread of this node, else the least busy of all that are not overloaded. A call that asks again has lost, or not
   * reached, its previous one; all calls avoid that one for a while.
   *
   * @throws {CallwayError} 503 `voice_unavailable` when no voice node is registered.
   */
  async select(callId: string): Promise<VoiceNode> {
    const { own = () => [], registry } = this.#deps;
    this.#avoidPreviousOf(callId);
    const threads = own();
    const trusted = threads.filter((node) => this.#isTrusted(node));
    const listed = async () => {
      try {
        return await registry.list();
      } catch (error) {
        // Redis is away: a thread that was lost a moment ago is better than none.
        if (threads.length === 0) throw error;
        return threads;
      }
    };
    const selected = this.#leastBusy(trusted.length > 0 ? trusted : await listed());
    this.#nodeOfCall.set(callId, selected.nodeId);
    return selected;
  }

  /**
   * Selects the node for the stream of another carrier, which has connected to this node: its own least busy voice
   * thread, or on a node without voice the least busy of all.
   *
   * @throws {CallwayError} 503 `voice_unavailable`
   */
  async selectForStream(): Promise<VoiceNode> {
    const { own, registry } = this.#deps;
    // Never another node in place of its own threads: two nodes would hand a stream back and forth.
    return this.#leastBusy(own ? own() : await registry.list());
  }

  /** Forgets a call that has ended. */
  forget(callId: string): void {
    this.#nodeOfCall.delete(callId);
  }

  #isTrusted({ nodeId }: VoiceNode): boolean {
    return (this.#avoidedUntilMs.get(nodeId) ?? 0) <= this.#deps.clock.monotonicMs();
  }

  #avoidPreviousOf(callId: string): void {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const [nodeId, untilMs] of this.#avoidedUntilMs) {
      if (untilMs <= nowMs) this.#avoidedUntilMs.delete(nodeId);
    }
    const previous = this.#nodeOfCall.get(callId);
    if (previous !== undefined) this.#avoidedUntilMs.set(previous, nowMs + AVOID_MS);
  }

  #leastBusy(nodes: readonly VoiceNode[]): VoiceNode {
    const nowMs = this.#deps.clock.monotonicMs();
    this.#recent = this.#recent.filter(({ atMs }) => nowMs - atMs < UNREGISTERED_MS);
    const load = ({ nodeId, sessions }: VoiceNode) =>
      sessions + this.#recent.filter((one) => one.nodeId === nodeId).length;
    const trusted = preferring(nodes, (node) => this.#isTrusted(node));
    const candidates = preferring(trusted, ({ isOverloaded }) => !isOverloaded);
    const least = Math.min(...candidates.map(load));
    const equals = candidates.filter((node) => load(node) === least);
    const selected = equals[Math.floor(this.#deps.random() * equals.length)];
    if (!selected) throw voiceUnavailable();
    this.#recent = [...this.#recent, { nodeId: selected.nodeId, atMs: nowMs }];
    return selected;
  }
}

/** The nodes that fit, or all when none does: an avoided or overloaded node is better than none. */
function preferring(nodes: readonly VoiceNode[], fits: (node: VoiceNode) => boolean): readonly VoiceNode[] {
  const fitting = nodes.filter(fits);
  return fitting.length > 0 ? fitting : nodes;
}

/**
 * Creates the error for a moment in which no voice session can run. A retry succeeds on another node, or when a thread
 * or node is back.
 */
export function voiceUnavailable(): CallwayError {
  return new CallwayError('unavailable', 'voice_unavailable', 'No voice node is available at the moment', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
