import fc from 'fast-check';

import type { TransferInput } from '../../../../src/calls/runner/callControl.ts';
import type { PhoneFate } from './fakeLeg.ts';

/** What disturbs a call. */
export type Disturbance =
  | { readonly kind: (typeof AT_ONCE)[number] }
  /** @property ms - How long a store fails; or how late all pending answers are. */
  | { readonly kind: (typeof FOR_A_WHILE)[number]; readonly ms: number };

const AT_ONCE = [
  'api_hangup',
  'peer_hangup',
  'transfer',
  'node_dies',
  'drain',
  'trunk_deleted',
  'leases_lost',
  'leg_lost',
  'agent_away',
  'agent_leaves',
  'media_away',
  'second_order',
] as const;
const FOR_A_WHILE = ['postgres_away', 'redis_away', 'time'] as const;

export interface Scene {
  readonly direction: 'outbound' | 'inbound';
  /** Of the INVITEs over each trunk. */
  readonly fates: readonly PhoneFate[];
  /** Of the transfer target. */
  readonly target: PhoneFate;
  readonly takesRefer: boolean;
  readonly record: boolean;
  /** Requested by the API once the call is in progress. */
  readonly isTransferred: boolean;
  readonly transfer: TransferInput;
  readonly disturbances: readonly { readonly atStep: number; readonly what: Disturbance }[];
}

/** Approximate number of steps of an undisturbed call. */
export const STEPS = 260;

const LONG_AWAY_MS = 31_000;
/** Leases are renewed once in this time. */
const ANSWERS: PhoneFate = { kind: 'answers', talksMs: 16_000 };

/** An answered call that the peer hangs up. The second trunk is not needed. */
export const ORDINARY: Scene = {
  direction: 'outbound',
  fates: [ANSWERS, ANSWERS],
  target: ANSWERS,
  takesRefer: false,
  record: true,
  isTransferred: false,
  transfer: { to: '+886223456780' },
  disturbances: [],
};

/** Of every mode; the last one to two targets, of which the first to accept wins. */
const TRANSFERS: readonly TransferInput[] = [
  { to: '+886223456780' },
  { to: '+886223456780', mode: 'refer' },
  { to: '+886223456780', mode: 'warm' },
  {
    targets: ['+886223456780', '+886223456781'],
    mode: 'warm',
    strategy: 'simultaneous',
    afterJoin: 'listen',
  },
];

const fate = fc.oneof(
  { weight: 5, arbitrary: fc.constant(ANSWERS) },
  fc.constantFrom<PhoneFate>(
    { kind: 'answers', talksMs: 0 },
    { kind: 'answers', talksMs: null },
    { kind: 'refuses', status: 486, rings: true },
    { kind: 'refuses', status: 503, rings: false },
    { kind: 'rings' },
    { kind: 'silent' },
  ),
);
const disturbance = fc.oneof<fc.Arbitrary<Disturbance>[]>(
  fc.record({ kind: fc.constantFrom(...AT_ONCE) }),
  fc.record({ kind: fc.constantFrom(...FOR_A_WHILE), ms: fc.constantFrom(100, 3_000, 20_000, LONG_AWAY_MS) }),
);

/** Disturbances close to each other. */
const cluster = fc.array(fc.record({ after: fc.oneof(fc.nat(10), fc.nat(80)), what: disturbance }), {
  maxLength: 3,
});

export const anyScene: fc.Arbitrary<Scene> = fc.record({
  direction: fc.constantFrom('outbound', 'outbound', 'inbound'),
  fates: fc.array(fate, { minLength: 1, maxLength: 2 }),
  target: fate,
  takesRefer: fc.boolean(),
  record: fc.boolean(),
  isTransferred: fc.boolean(),
  transfer: fc.constantFrom(...TRANSFERS),
  disturbances: fc.tuple(fc.nat(STEPS), cluster).map(([first, all]) => {
    const stepOf = (index: number) => all.slice(0, index + 1).reduce((sum, { after }) => sum + after, first);
    return all.map(({ what }, index) => ({ atStep: stepOf(index), what }));
  }),
});

/** Long enough for the call's node to be taken for dead while it still retries. */
export const TAKEN_FOR_DEAD: Disturbance = { kind: 'postgres_away', ms: LONG_AWAY_MS };

/** One of each, for every moment. */
export const ANYWHERE: readonly Disturbance[] = [
  ...AT_ONCE.map((kind) => ({ kind })),
  ...FOR_A_WHILE.map((kind) => ({ kind, ms: 3_000 })),
  TAKEN_FOR_DEAD,
];
