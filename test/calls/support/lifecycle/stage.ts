import type { Call } from '../../../../src/calls/call.ts';
import { violation } from './expectations.ts';
import type { InboundCaller } from './fakeLeg.ts';
import type { Scheduler } from './gates.ts';
import { type Node, PROJECT, startNode } from './nodes.ts';
import { type Disturbance, type Scene, STEPS } from './scenes.ts';
import { createWorld } from './world.ts';

/** Longer than a node timeout, a sweep, a lease, and the longest retry delay together. */
const MAX_SCENE_MS = 400_000;
const MAX_STEPS = 20_000;
/** Before that, not even an order can have been refused. */
const MIN_STEPS = 20;
/** Every unrenewed lease expires within this time. */
const LEASES_MS = 75_000;
/** Seven attempts to open the agent stream and an apology, with slow steps. */
const MAX_SILENCE_MS = 45_000;
/** Outages of this length may let other nodes end or requeue the calls of a live node. */
const TAKEN_FOR_DEAD_MS = 20_000;
const TICK_MS = 1000;

/** Plays a scene to its end. @throws {Error} When a call violates an expectation; with the whole state. */
export async function play(scheduler: Scheduler, scene: Scene): Promise<void> {
  const stage = new Stage(scheduler, scene);
  await stage.start();
  await stage.playToEnd();
  await stage.expireLeases();
}

class Stage {
  readonly #scheduler: Scheduler;
  readonly #scene: Scene;
  readonly #world: ReturnType<typeof createWorld>;
  /** The API's answers to hang-up requests. */
  readonly #answers: Call[] = [];
  readonly #accepted: string[] = [];
  /** Pending requests, and the node that answers each. */
  readonly #pending = new Map<string, Node>();
  #nodes: readonly Node[] = [];
  #caller: InboundCaller | undefined;
  #steps = 0;
  #isTimePassing = false;
  #hasTransferred = false;
  #silentSinceMs: number | undefined;
  /** A node stopped before its calls had ended. */
  #earlyStop: string | undefined;

  constructor(scheduler: Scheduler, scene: Scene) {
    [this.#scheduler, this.#scene] = [scheduler, scene];
    this.#world = createWorld(scheduler, scene);
  }

  /** Starts two nodes, and a call on the first. */
  async start(): Promise<void> {
    const starting = Promise.all(['a', 'b'].map((name) => startNode(this.#world, name)));
    let failure: unknown;
    starting.then(
      (nodes) => {
        this.#nodes = nodes;
      },
      (error: unknown) => {
        failure = error;
      },
    );
    while (this.#nodes.length === 0) {
      if (failure !== undefined) throw failure;
      await this.#step();
    }
    const [node] = this.#nodes;
    const [trunk] = this.#world.trunks;
    const [fate] = this.#scene.fates;
    if (!node || !trunk || !fate) throw new Error('a scene needs a trunk');
    if (this.#scene.direction === 'outbound') this.#order(node);
    else this.#caller = this.#world.phones.callIn(node.life, fate, trunk);
  }

  async playToEnd(): Promise<void> {
    const untilMs = this.#now() + MAX_SCENE_MS;
    this.#steps = 0;
    while (!this.#hasEnded()) {
      if (this.#now() > untilMs || this.#steps > MAX_STEPS) this.#fail('the scene does not end');
      this.#steps += 1;
      for (const { atStep, what } of this.#scene.disturbances)
        if (atStep === this.#steps) this.#disturb(what);
      this.#transferOnce();
      await this.#step();
      this.#checkInvariants();
    }
    const { database, phones, redis } = this.#world;
    const wrong = violation({
      database,
      wire: phones.wire,
      answers: this.#answers,
      accepted: this.#accepted,
    });
    if (wrong !== undefined) this.#fail(wrong);
    if (!this.#mustExpire() && redis.held().length > 0) this.#fail('a call still holds something');
  }

  async expireLeases(): Promise<void> {
    const untilMs = this.#now() + LEASES_MS;
    while (this.#world.redis.held().length > 0) {
      if (this.#now() > untilMs) this.#fail('a lease never expires');
      await this.#step();
    }
  }

  /** Runs the step that the scheduler selects; the passing of time is one of them. */
  async #step(): Promise<void> {
    if (!this.#isTimePassing) {
      this.#isTimePassing = true;
      void this.#world.gates.pass('time passes').then(() => {
        this.#isTimePassing = false;
        this.#world.gates.clock.advance(TICK_MS);
      });
    }
    await this.#scheduler.waitNext(1);
    await new Promise((resolve) => setImmediate(resolve));
  }

  #disturb(what: Disturbance): void {
    const [node, other] = this.#nodes;
    if (!node || !other) return;
    const { phones, trunks, redis, gates, audio } = this.#world;
    const live = phones.wire.filter(({ hasLegEnded }) => !hasLegEnded);
    const actions: { readonly [Kind in Disturbance['kind']]: (ms: number) => void } = {
      api_hangup: () => this.#hangUp(other),
      peer_hangup: () => {
        this.#caller?.cancel();
        for (const one of live) one.hangUp();
      },
      transfer: () => this.#transfer(other),
      node_dies: () => {
        node.life.isAlive = false;
        for (const one of live) one.isUp &&= one.owner.isAlive;
      },
      drain: () => this.#request(node, 'a stop', () => this.#stop(node)),
      trunk_deleted: () => trunks.splice(0, 1),
      leases_lost: () => {
        gates.breakService('redis', 1);
        redis.lose();
      },
      leg_lost: () => {
        for (const one of live) one.lose();
      },
      agent_away: () => {
        audio.isAgentAway = true;
        for (const one of live) one.audio()?.closeStream('broken');
      },
      agent_leaves: () => {
        for (const one of live) one.audio()?.closeStream('stopped');
      },
      media_away: () => {
        audio.refuses = true;
      },
      second_order: () => this.#order(other),
      postgres_away: (ms) => gates.breakService('postgres', ms),
      redis_away: (ms) => gates.breakService('redis', ms),
      time: (ms) => {
        // No step can run meanwhile.
        if (this.#silentSinceMs !== undefined) this.#silentSinceMs += ms;
        gates.clock.advance(ms);
      },
    };
    actions[what.kind]('ms' in what ? what.ms : 0);
  }

  #transferOnce(): void {
    const [, other] = this.#nodes;
    if (
      !this.#scene.isTransferred ||
      this.#hasTransferred ||
      !other ||
      this.#call()?.status !== 'in_progress'
    )
      return;
    this.#hasTransferred = true;
    this.#transfer(other);
  }

  #order(node: Node): void {
    this.#request(node, 'an order', async () => {
      const { callId } = await node.accept(this.#scene.record);
      this.#accepted.push(callId);
    });
  }

  #hangUp(node: Node): void {
    const call = this.#call();
    if (!call) return;
    this.#request(
      node,
      'a hang-up',
      async () => void this.#answers.push(await node.control.hangUp(PROJECT, call.id)),
    );
  }

  #transfer(node: Node): void {
    const call = this.#call();
    if (!call) return;
    this.#request(
      node,
      'a transfer',
      async () => void (await node.control.transfer(PROJECT, call.id, this.#scene.transfer)),
    );
  }

  /** The process exits when `stop` resolves: calls that it still runs are lost. */
  async #stop(node: Node): Promise<void> {
    await node.stop();
    const hasLeg = this.#world.phones.wire.some(
      ({ owner, hasLegEnded }) => owner === node.life && !hasLegEnded,
    );
    if (hasLeg || node.phone.active > 0) this.#earlyStop = 'a node stopped during a call';
    node.life.isAlive = false;
  }

  /** Every request to a live node must be answered. */
  #request(node: Node, what: string, work: () => Promise<void>): void {
    const name = `${what} at step ${this.#steps}`;
    this.#pending.set(name, node);
    const settled = () => void this.#pending.delete(name);
    work().then(settled, settled);
  }

  #checkInvariants(): void {
    if (this.#earlyStop !== undefined) this.#fail(this.#earlyStop);
    const isSilent = this.#world.phones.wire.some(
      ({ isUp, isSecond, hasLegEnded, wasAnswered, audio }) =>
        isUp && !isSecond && !hasLegEnded && wasAnswered && audio()?.isHeard === false,
    );
    this.#silentSinceMs = isSilent ? (this.#silentSinceMs ?? this.#now()) : undefined;
    const silentMs = this.#now() - (this.#silentSinceMs ?? this.#now());
    if (silentMs > MAX_SILENCE_MS) this.#fail('the caller heard silence for too long');
  }

  #hasEnded(): boolean {
    const { database, phones } = this.#world;
    const rows = [...database.rows.values()];
    const isAnswered = ![...this.#pending.values()].some(({ life }) => life.isAlive);
    const isIdle = this.#alive().every(({ phone, capacity }) => phone.active + capacity.inUse === 0);
    return (
      this.#steps >
        Math.max(MIN_STEPS, ...this.#scene.disturbances.map(({ atStep }) => Math.min(atStep, STEPS))) &&
      isAnswered &&
      isIdle &&
      rows.every(({ isSettled }) => isSettled) &&
      phones.wire.every(({ hasLegEnded, owner }) => hasLegEnded || !owner.isAlive)
    );
  }

  /** Redis or the call's node was away, or the node was taken for dead: only expiry releases what the call holds. */
  #mustExpire(): boolean {
    return (
      this.#world.gates.wasAway('redis') ||
      this.#alive().length < this.#nodes.length ||
      this.#scene.disturbances.some(({ what }) => 'ms' in what && what.ms >= TAKEN_FOR_DEAD_MS)
    );
  }

  #alive(): Node[] {
    return this.#nodes.filter(({ life }) => life.isAlive);
  }

  #call(): Call | undefined {
    const [row] = this.#world.database.rows.values();
    return row?.call;
  }

  #now(): number {
    return this.#world.gates.clock.now();
  }

  #fail(what: string): never {
    const { database, phones, redis, errors } = this.#world;
    const seen = {
      calls: [...database.rows.values()],
      facts: database.facts,
      wire: phones.wire.map(({ owner, audio: _, ...one }) => ({ ...one, node: owner.name })),
      held: redis.held(),
      pending: [...this.#pending.keys()],
      running: this.#nodes.map(({ phone, capacity }) => [phone.active, capacity.inUse]),
      at: new Date(this.#now()).toISOString(),
      steps: this.#steps,
      errors: errors.slice(-10),
    };
    throw new Error(`${what}\n${JSON.stringify(seen, null, 1)}`);
  }
}
