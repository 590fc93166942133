import fc from 'fast-check';

import type { PhoneFate } from './fakeLeg.ts';

/** What happens to a call on its way. */
export type Disturbance =
  | { readonly kind: (typeof AT_ONCE)[number] }
  /** @property ms - How long a store refuses everything; or how late all answers are that are on their way. */
  | { readonly kind: (typeof FOR_A_WHILE)[number]; readonly ms: number };

export const AT_ONCE = [
  'api_hangup',
  'peer_hangup',
  'transfer',
  'node_dies',
  'drain',
  'trunk_deleted',
  'leases_lost',
  'leg_lost',
  'engine_away',
  'engine_leaves',
  'audio_away',
  'second_order',
] as const;
export const FOR_A_WHILE = ['postgres_away', 'redis_away', 'time'] as const;

export interface Scene {
  readonly direction: 'outbound' | 'inbound';
  /** Of the INVITEs over each trunk. */
  readonly fates: readonly PhoneFate[];
  /** Of whom a caller is transferred to. */
  readonly second: PhoneFate;
  readonly takesRefer: boolean;
  readonly record: boolean;
  /** Asked for by the API as soon as the call is in progress. */
  readonly isTransferred: boolean;
  readonly disturbances: readonly { readonly atStep: number; readonly what: Disturbance }[];
}

/** Steps that a call takes which nothing disturbs, about. */
export const STEPS = 260;

const LONG_AWAY_MS = 31_000;
/** Long enough for leases to be renewed once. */
const ANSWERS: PhoneFate = { kind: 'answers', talksMs: 16_000 };

/** A call that is answered, talks and is hung up by the person; there is a second trunk, which nobody needs. */
export const ORDINARY: Scene = {
  direction: 'outbound',
  fates: [ANSWERS, ANSWERS],
  second: ANSWERS,
  takesRefer: false,
  record: true,
  isTransferred: false,
  disturbances: [],
};

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

/** Troubles come together. */
const together = fc.array(fc.record({ after: fc.oneof(fc.nat(10), fc.nat(80)), what: disturbance }), {
  maxLength: 3,
});

export const anyScene: fc.Arbitrary<Scene> = fc.record({
  direction: fc.constantFrom('outbound', 'outbound', 'inbound'),
  fates: fc.array(fate, { minLength: 1, maxLength: 2 }),
  second: fate,
  takesRefer: fc.boolean(),
  record: fc.boolean(),
  isTransferred: fc.boolean(),
  disturbances: fc.tuple(fc.nat(STEPS), together).map(([first, all]) => {
    const stepOf = (index: number) => all.slice(0, index + 1).reduce((sum, { after }) => sum + after, first);
    return all.map(({ what }, index) => ({ atStep: stepOf(index), what }));
  }),
});

/** Long enough for the node that carries a call to be taken for dead, and it tries again some time after that. */
export const TAKEN_FOR_DEAD: Disturbance = { kind: 'postgres_away', ms: LONG_AWAY_MS };

/** One of each, to be tried at every moment. */
export const ANYWHERE: readonly Disturbance[] = [
  ...AT_ONCE.map((kind) => ({ kind })),
  ...FOR_A_WHILE.map((kind) => ({ kind, ms: 3_000 })),
  TAKEN_FOR_DEAD,
];
