import type { Clock, Timer } from '../../base/values/clock.ts';
import type { Leases } from '../../calls/nodes/leases.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import { type TrunkHealthStore, UNKNOWN_HEALTH } from '../../calls/trunks/trunkHealth.ts';
import type { SipControl } from '../control/control.ts';
import type { TrunkDirectory } from './directory.ts';
import { type HealthState, TrunkHealthCheck } from './healthCheck.ts';
import { type RegistrationState, TrunkRegistration } from './registration.ts';
import { TRUNK_ERRORS, type TrunkError, trunkError } from './trunkError.ts';

export interface TrunkMonitorsDeps {
  readonly directory: TrunkDirectory;
  readonly leases: Leases;
  readonly board: TrunkHealthStore;
  readonly control: SipControl;
  readonly clock: Clock;
  readonly random: () => number;
  readonly makeToken: () => string;
  /** A trunk answers, or is registered, or no longer. */
  readonly onHealthChange?: (trunk: Trunk, health: Health) => void;
  /** True when tenants must not learn which private hosts exist. */
  readonly hidesPrivateHosts: boolean;
  /** Tells the operator why a trunk is not reachable or not registered. */
  readonly onFailure: (trunk: Trunk, reason: string) => void;
  readonly onRegistered: (trunk: Trunk) => void;
  readonly onError: (error: unknown, what: string) => void;
}

type Health = Omit<Parameters<TrunkHealthStore['publish']>[1], 'serviceRoute'>;

/** The rate of OPTIONS of one project, so that its trunks cannot be used as a scanner. */
const OPTIONS_PER_SECOND = 5;
/** The lease of a trunk's monitor. Another node takes over within this time after a node failure. */
const LEASE_MS = 15_000;
const RENEW_MS = 5000;
/** Published states expire on the board. */
const REPUBLISH_EVERY_ROUNDS = 4;

/** Registers each trunk and checks its health, on exactly one node at a time. */
export class TrunkMonitors {
  readonly #deps: TrunkMonitorsDeps;
  readonly #monitors = new Map<string, TrunkMonitor>();
  #timer: Timer | undefined;
  #rounds = 0;
  #isClosed = false;
  #work = Promise.resolve();
  #unsubscribe: () => void = () => undefined;
  #closing: Promise<void> | undefined;

  constructor(deps: TrunkMonitorsDeps) {
    this.#deps = deps;
  }

  get count(): number {
    return this.#monitors.size;
  }

  start(): void {
    this.#unsubscribe = this.#deps.directory.onChange(() => this.#schedule());
    this.#schedule();
  }

  /** Unregisters the trunks of this node and releases their leases. Idempotent. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#unsubscribe();
    this.#closing ??= this.#work.then(async () => {
      this.#timer?.cancel();
      await Promise.all([...this.#monitors.keys()].map((id) => this.#release(id)));
    });
    return this.#closing;
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#work = this.#work
      .then(() => this.#round())
      .catch((error: unknown) => this.#deps.onError(error, 'monitoring the trunks failed'));
  }

  async #round(): Promise<void> {
    const { directory, clock } = this.#deps;
    this.#timer?.cancel();
    this.#rounds += 1;
    const wanted = directory.trunks.filter(isMonitored);
    const ids = new Set(wanted.map(({ id }) => id));
    const removed = [...this.#monitors.keys()].filter((id) => !ids.has(id));
    await Promise.all([
      ...removed.map((id) => this.#release(id)),
      ...wanted.map((trunk) => this.#update(trunk)),
    ]);
    if (!this.#isClosed) this.#timer = clock.setTimer(() => this.#schedule(), RENEW_MS);
  }

  /** Starts, keeps, restarts or stops the monitor of a trunk. */
  async #update(trunk: Trunk): Promise<void> {
    const monitor = this.#monitors.get(trunk.id);
    const isHeld = await this.#acquireLease(trunk.id);
    if (isHeld === false) return await this.#stop(trunk.id);
    if (monitor && monitor.trunk.updatedAt === trunk.updatedAt) {
      if (this.#rounds % REPUBLISH_EVERY_ROUNDS === 0) monitor.publish();
      return;
    }
    if (monitor) await this.#stop(trunk.id);
    if (!isHeld || this.#isClosed) return;
    const minIntervalMs = () => this.#minIntervalMs(trunk);
    this.#monitors.set(trunk.id, new TrunkMonitor(trunk, { ...this.#deps, minIntervalMs }));
  }

  /** A project's trunks share a rate of OPTIONS. */
  #minIntervalMs({ projectId }: Trunk): number {
    const trunks = this.#deps.directory.trunks.filter((trunk) => trunk.projectId === projectId);
    return (trunks.length * 1000) / OPTIONS_PER_SECOND;
  }

  /**
   * @returns Undefined while the lease store is unavailable. A held lease is kept then, since no other node can
   *   acquire it.
   */
  async #acquireLease(id: string): Promise<boolean | undefined> {
    try {
      return await this.#deps.leases.hold(leaseOf(id), LEASE_MS);
    } catch (error) {
      this.#deps.onError(error, 'acquiring the lease of a trunk failed');
      return undefined;
    }
  }

  async #stop(id: string): Promise<void> {
    const monitor = this.#monitors.get(id);
    this.#monitors.delete(id);
    await monitor?.close();
  }

  async #release(id: string): Promise<void> {
    const { board, leases, onError } = this.#deps;
    await this.#stop(id);
    await board
      .publish(id, UNKNOWN_HEALTH)
      .catch((error: unknown) => onError(error, 'publishing the health of a trunk failed'));
    await leases
      .release(leaseOf(id))
      .catch((error: unknown) => onError(error, 'releasing the lease of a trunk failed'));
  }
}

interface TrunkMonitorDeps extends TrunkMonitorsDeps {
  readonly minIntervalMs: () => number;
}

/** The health check and the registration of one trunk. */
class TrunkMonitor {
  readonly trunk: Trunk;
  readonly #deps: TrunkMonitorDeps;
  readonly #healthCheck: TrunkHealthCheck | undefined;
  readonly #registration: TrunkRegistration | undefined;
  #health: HealthState = { isReachable: null, lastOptionsMs: null, error: null };
  #registered: RegistrationState | undefined;
  #logged: string | null = null;
  /** The state that was last reported; at first nothing is known. */
  #reported = reportedOf(UNKNOWN_HEALTH);

  constructor(trunk: Trunk, deps: TrunkMonitorDeps) {
    this.trunk = trunk;
    this.#deps = deps;
    if (trunk.optionsIntervalSeconds > 0) {
      this.#healthCheck = new TrunkHealthCheck(trunk, {
        ...deps,
        onChange: (state) => {
          this.#health = state;
          this.publish();
        },
      });
    }
    if (!trunk.register) return;
    const onChange = (state: RegistrationState) => {
      if (state.isRegistered && !this.#registered?.isRegistered) deps.onRegistered(trunk);
      this.#registered = state;
      this.publish();
    };
    if (trunk.username !== null) this.#registration = new TrunkRegistration(trunk, { ...deps, onChange });
    else onChange({ isRegistered: false, error: trunkError(TRUNK_ERRORS.noUsername), serviceRoute: [] });
  }

  publish(): void {
    const { isReachable, lastOptionsMs } = this.#health;
    const error = this.#registered?.error ?? this.#health.error;
    this.#logFailure(error?.logged ?? null);
    const health: Health = {
      reachable: isReachable,
      registered: this.trunk.register ? (this.#registered?.isRegistered ?? null) : null,
      lastOptionsMs,
      error: error && this.#shown(error),
    };
    if (reportedOf(health) !== this.#reported) this.#deps.onHealthChange?.(this.trunk, health);
    this.#reported = reportedOf(health);
    this.#deps.board
      .publish(this.trunk.id, { ...health, serviceRoute: this.#registered?.serviceRoute ?? [] })
      .catch((failure: unknown) => this.#deps.onError(failure, 'publishing the health of a trunk failed'));
  }

  #shown({ shown, isUnsent }: TrunkError): string {
    const isHidden = isUnsent && this.#deps.hidesPrivateHosts && !this.trunk.hasPrivateHost;
    return isHidden ? TRUNK_ERRORS.hidden : shown;
  }

  #logFailure(error: string | null): void {
    if (error !== null && error !== this.#logged) this.#deps.onFailure(this.trunk, error);
    this.#logged = error;
  }

  async close(): Promise<void> {
    this.#healthCheck?.stop();
    await this.#registration?.close();
  }
}

/** Returns the fields whose change is reported. The response time is not one of them. */
function reportedOf({ reachable, registered, error }: Health): string {
  return JSON.stringify([reachable, registered, error]);
}

function isMonitored({ register, optionsIntervalSeconds }: Trunk): boolean {
  return register || optionsIntervalSeconds > 0;
}

function leaseOf(trunkId: string): string {
  return `trunk:${trunkId}`;
}
