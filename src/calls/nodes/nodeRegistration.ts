import { repeat } from '../../base/async/repeat.ts';
import type { CallStore } from '../callStore.ts';
import { endOrphan, type OrphanDeps } from './callSweeper.ts';

/** The heartbeat interval. Several heartbeats fit into NODE_TIMEOUT_MS. */
const HEARTBEAT_MS = 5_000;

export interface NodeRegistrationDeps extends OrphanDeps {
  readonly calls: Pick<CallStore, 'recordHeartbeat' | 'listUnsettledOn' | 'releaseClaim'>;
  readonly nodeId: string;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Registers a node that runs calls: ends the calls that its previous process left, then sends heartbeats.
 *
 * @returns A function that stops the heartbeats; idempotent. The sweeper ends the calls that the node still runs.
 */
export async function registerNode(deps: NodeRegistrationDeps): Promise<() => Promise<void>> {
  const { calls, nodeId, clock, onError } = deps;
  const heartbeat = () => calls.recordHeartbeat(nodeId, new Date(clock.now()));
  for (const orphan of await calls.listUnsettledOn(nodeId)) {
    await endOrphan(deps, orphan).catch((error: unknown) => {
      onError(error, 'call of the previous process not ended, the sweeper ends it');
    });
  }
  await heartbeat();
  return repeat(clock, HEARTBEAT_MS, heartbeat, (error) => onError(error, 'node heartbeat not stored'));
}
