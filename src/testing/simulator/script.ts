import { z } from 'zod';

const milliseconds = z.int().min(0).max(600_000);
const text = z.string().min(1).max(1000);

/** One action of a simulated caller. Times are on the stream's clock, so a script is reproducible. */
const step = z.discriminatedUnion('do', [
  /** Waits until the other party has spoken and is silent, at most `atMostMs`. */
  z.strictObject({
    do: z.literal('listen'),
    quietMs: milliseconds.default(700),
    atMostMs: milliseconds.default(30_000),
  }),
  z.strictObject({ do: z.literal('say'), text }),
  /** Plays a 16-bit WAV file; the left channel of a stereo file. */
  z.strictObject({ do: z.literal('play'), file: z.string().min(1) }),
  /**
   * Speaks while the other party is speaking, this long after it started. Where it falls silent before, it has asked the
   * caller to repeat: `repeat` is said, as often as that happens.
   */
  z.strictObject({ do: z.literal('interrupt'), afterMs: milliseconds, text, repeat: text.optional() }),
  /** Sends DTMF digits as RFC 4733 events. */
  z.strictObject({ do: z.literal('send_dtmf'), digits: z.string().regex(/^[0-9*#A-D]{1,32}$/) }),
  z.strictObject({ do: z.literal('wait'), ms: milliseconds }),
  /** The tone of an answering machine: 1000 Hz. */
  z.strictObject({ do: z.literal('beep'), ms: milliseconds.default(500) }),
  /** White noise at this level below full scale. */
  z.strictObject({ do: z.literal('noise'), ms: milliseconds, belowFullScaleDb: z.number().min(0).max(90) }),
  z.strictObject({ do: z.literal('hang_up') }),
]);

export type Step = z.infer<typeof step>;

/** The reaction of a simulated phone to a call. */
export const behaviour = z.discriminatedUnion('kind', [
  /** Rings, then answers. Hangs up after its script unless it stays. */
  z.strictObject({
    kind: z.literal('answers'),
    afterMs: milliseconds.default(500),
    script: z.array(step).max(200),
    /** Listens until the other party hangs up. */
    stays: z.boolean().default(false),
  }),
  /** Rejects the call. */
  z.strictObject({
    kind: z.literal('refuses'),
    sipCode: z.int().min(400).max(699),
    afterMs: milliseconds.default(0),
  }),
  /** Rings without an answer. */
  z.strictObject({ kind: z.literal('never_answers') }),
]);

export type Behaviour = z.infer<typeof behaviour>;
export type BehaviourInput = z.input<typeof behaviour>;

/** Common behaviours by name. */
export const BEHAVIOURS = {
  busy: { kind: 'refuses', sipCode: 486 },
  declines: { kind: 'refuses', sipCode: 603, afterMs: 1000 },
  unknown_number: { kind: 'refuses', sipCode: 404 },
  never_answers: { kind: 'never_answers' },
  voicemail: {
    kind: 'answers',
    script: [
      {
        do: 'say',
        text: 'Hello. You have reached the voice mail of Ada. I cannot take your call right now. Please leave a message after the tone.',
      },
      { do: 'beep' },
    ],
    stays: true,
  },
  screening: {
    kind: 'answers',
    script: [
      {
        do: 'say',
        text: 'Please state your name and the reason for calling, and I will see if this person is available.',
      },
      { do: 'listen' },
      { do: 'say', text: 'Hello, this is Ada. Yes.' },
    ],
    stays: true,
  },
} as const satisfies Record<string, BehaviourInput>;
