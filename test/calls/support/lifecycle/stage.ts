import type { Call } from '../../../../src/calls/call.ts';
import { whatIsWrong } from './expectations.ts';
import type { Scheduler } from './gates.ts';
import { type Node, PROJECT, startNode } from './nodes.ts';
import type { IncomingPerson } from './phones.ts';
import { type Disturbance, type Scene, STEPS } from './scenes.ts';
import { createWorld } from './world.ts';

/** Longer than all that may follow: a silent node, a sweep, a lease, and the longest wait between two tries. */
const LONGEST_MS = 400_000;
const MOST_STEPS = 20_000;
/** Before that, not even an order has been refused. */
const FEWEST_STEPS = 20;
/** What frees itself does so within a lease, once nobody renews it. */
const LEASES_MS = 75_000;
/** Seven tries to reach an engine, and an apology, where each step may take its time. */
const LONGEST_SILENCE_MS = 45_000;
/** About when another node may end, or give back, what a node carries that does not say that it lives. */
const TAKEN_FOR_DEAD_MS = 20_000;
const TICK_MS = 1000;
const THIRD = '+886223456780';

/** Plays a scene to its end. @throws {Error} Where a call was not what it is to be; it shows all that can be seen. */
export async function play(scheduler: Scheduler, scene: Scene): Promise<void> {
  const stage = new Stage(scheduler, scene);
  await stage.begin();
  await stage.playToTheEnd();
  await stage.letLeasesRunOut();
}

class Stage {
  readonly #scheduler: Scheduler;
  readonly #scene: Scene;
  readonly #world: ReturnType<typeof createWorld>;
  /** What the API answered to those who hung up. */
  readonly #answers: Call[] = [];
  readonly #accepted: string[] = [];
  /** What is to be answered yet, by which node. */
  readonly #asked = new Map<string, Node>();
  #nodes: readonly Node[] = [];
  #caller: IncomingPerson | undefined;
  #steps = 0;
  #isTimePassing = false;
  #isTransferred = false;
  #silentSinceMs: number | undefined;
  /** Of a node that said that it was done. */
  #left: string | undefined;

  constructor(scheduler: Scheduler, scene: Scene) {
    [this.#scheduler, this.#scene] = [scheduler, scene];
    this.#world = createWorld(scheduler, scene);
  }

  /** Two nodes, and a call at the first. */
  async begin(): Promise<void> {
    const starting = Promise.all(['a', 'b'].map((name) => startNode(this.#world, name)));
    void starting.then((nodes) => {
      this.#nodes = nodes;
    });
    while (this.#nodes.length === 0) await this.#step();
    const [node] = this.#nodes;
    const [trunk] = this.#world.trunks;
    const [fate] = this.#scene.fates;
    if (!node || !trunk || !fate) throw new Error('a scene needs a trunk');
    if (this.#scene.direction === 'outbound') this.#order(node);
    else this.#caller = this.#world.phones.callIn(node.life, fate, trunk);
  }

  async playToTheEnd(): Promise<void> {
    const untilMs = this.#now() + LONGEST_MS;
    this.#steps = 0;
    while (!this.#isOver()) {
      if (this.#now() > untilMs || this.#steps > MOST_STEPS)
        this.#fail('it is not over after the longest time');
      this.#steps += 1;
      for (const { atStep, what } of this.#scene.disturbances)
        if (atStep === this.#steps) this.#disturb(what);
      this.#transferOnce();
      await this.#step();
      this.#listen();
    }
    const { database, phones, redis } = this.#world;
    const wrong = whatIsWrong({
      database,
      wire: phones.wire,
      answers: this.#answers,
      accepted: this.#accepted,
    });
    if (wrong !== undefined) this.#fail(wrong);
    if (!this.#isLeftToLeases() && redis.held().length > 0) this.#fail('something is held still');
  }

  async letLeasesRunOut(): Promise<void> {
    const untilMs = this.#now() + LEASES_MS;
    while (this.#world.redis.held().length > 0) {
      if (this.#now() > untilMs) this.#fail('something is never freed');
      await this.#step();
    }
  }

  /** One thing happens: whatever the scheduler chooses of all that could, and that time goes on is one of them. */
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
    const live = phones.wire.filter(({ isLegOver }) => !isLegOver);
    const does: { readonly [Kind in Disturbance['kind']]: (ms: number) => void } = {
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
      drain: () => this.#ask(node, 'the stop', () => this.#stop(node)),
      trunk_deleted: () => trunks.splice(0, 1),
      leases_lost: () => {
        gates.breakService('redis', 1);
        redis.lose();
      },
      leg_lost: () => {
        for (const one of live) one.lose();
      },
      engine_away: () => {
        audio.isEngineAway = true;
        for (const one of live) one.audio()?.breakEngine('broken');
      },
      engine_leaves: () => {
        for (const one of live) one.audio()?.breakEngine('stopped');
      },
      audio_away: () => {
        audio.refuses = true;
      },
      second_order: () => this.#order(other),
      postgres_away: (ms) => gates.breakService('postgres', ms),
      redis_away: (ms) => gates.breakService('redis', ms),
      time: (ms) => {
        // As long as nothing is done, nobody can be expected to.
        if (this.#silentSinceMs !== undefined) this.#silentSinceMs += ms;
        gates.clock.advance(ms);
      },
    };
    does[what.kind]('ms' in what ? what.ms : 0);
  }

  #transferOnce(): void {
    const [, other] = this.#nodes;
    if (!this.#scene.isTransferred || this.#isTransferred || !other || this.#call()?.status !== 'in_progress')
      return;
    this.#isTransferred = true;
    this.#transfer(other);
  }

  #order(node: Node): void {
    this.#ask(node, 'an order', async () => {
      const { callId } = await node.accept(this.#scene.record);
      this.#accepted.push(callId);
    });
  }

  #hangUp(node: Node): void {
    const call = this.#call();
    if (!call) return;
    this.#ask(
      node,
      'a hang-up',
      async () => void this.#answers.push(await node.control.hangUp(PROJECT, call.id)),
    );
  }

  #transfer(node: Node): void {
    const call = this.#call();
    if (!call) return;
    this.#ask(node, 'a transfer', async () => void (await node.control.transfer(PROJECT, call.id, THIRD)));
  }

  /** What a node has left when it says that it is done is lost with its process. */
  async #stop(node: Node): Promise<void> {
    await node.stop();
    const isLeft = this.#world.phones.wire.some(({ owner, isLegOver }) => owner === node.life && !isLegOver);
    if (isLeft || node.phone.active > 0) this.#left = 'a node stopped in the middle of a call';
    node.life.isAlive = false;
  }

  /** It is answered, or refused, as long as the node lives. */
  #ask(node: Node, what: string, work: () => Promise<void>): void {
    const name = `${what} at step ${this.#steps}`;
    this.#asked.set(name, node);
    const answered = () => void this.#asked.delete(name);
    work().then(answered, answered);
  }

  #listen(): void {
    if (this.#left !== undefined) this.#fail(this.#left);
    const isSilent = this.#world.phones.wire.some(
      ({ isUp, isSecond, isLegOver, wasAnnounced, audio }) =>
        isUp && !isSecond && !isLegOver && wasAnnounced && audio()?.isHeard === false,
    );
    this.#silentSinceMs = isSilent ? (this.#silentSinceMs ?? this.#now()) : undefined;
    const silentMs = this.#now() - (this.#silentSinceMs ?? this.#now());
    if (silentMs > LONGEST_SILENCE_MS) this.#fail('somebody was left in silence');
  }

  #isOver(): boolean {
    const { database, phones } = this.#world;
    const rows = [...database.rows.values()];
    const isAnswered = ![...this.#asked.values()].some(({ life }) => life.isAlive);
    const isIdle = this.#alive().every(({ phone, capacity }) => phone.active + capacity.inUse === 0);
    return (
      this.#steps >
        Math.max(FEWEST_STEPS, ...this.#scene.disturbances.map(({ atStep }) => Math.min(atStep, STEPS))) &&
      isAnswered &&
      isIdle &&
      rows.every(({ isSettled }) => isSettled) &&
      phones.wire.every(({ isLegOver, owner }) => isLegOver || !owner.isAlive)
    );
  }

  /** Nobody could free what is held: Redis was away, or the call's node was, or was taken for dead. */
  #isLeftToLeases(): boolean {
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
      told: database.told,
      wire: phones.wire.map(({ owner, audio: _, ...one }) => ({ ...one, node: owner.name })),
      held: redis.held(),
      asked: [...this.#asked.keys()],
      carried: this.#nodes.map(({ phone, capacity }) => [phone.active, capacity.inUse]),
      at: new Date(this.#now()).toISOString(),
      steps: this.#steps,
      errors: errors.slice(-10),
    };
    throw new Error(`${what}\n${JSON.stringify(seen, null, 1)}`);
  }
}
