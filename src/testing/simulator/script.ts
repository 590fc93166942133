import { z } from 'zod';

const milliseconds = z.int().min(0).max(600_000);
const text = z.string().min(1).max(1000);

/** One thing that a simulated person does. Times run on the stream's own clock, so that a script always plays alike. */
export const step = z.discriminatedUnion('do', [
  /** Until the other side has spoken and then been quiet, or for `atMostMs`. */
  z.strictObject({
    do: z.literal('listen'),
    quietMs: milliseconds.default(700),
    atMostMs: milliseconds.default(30_000),
  }),
  z.strictObject({ do: z.literal('say'), text }),
  /** Words, or any other sound, of a WAV file of 16 bits; of two channels the left one. */
  z.strictObject({ do: z.literal('play'), file: z.string().min(1) }),
  /** Speaks while the other side speaks: so long after it has begun. */
  z.strictObject({ do: z.literal('cut_in'), afterMs: milliseconds, text }),
  /** Keys, as RFC 4733 events. */
  z.strictObject({ do: z.literal('press'), digits: z.string().regex(/^[0-9*#A-D]{1,32}$/) }),
  z.strictObject({ do: z.literal('wait'), ms: milliseconds }),
  /** The tone of an answering machine: 1000 Hz. */
  z.strictObject({ do: z.literal('beep'), ms: milliseconds.default(500) }),
  /** Hiss, at so many decibels below full scale. */
  z.strictObject({ do: z.literal('noise'), ms: milliseconds, belowFullScaleDb: z.number().min(0).max(90) }),
  z.strictObject({ do: z.literal('hang_up') }),
]);

export type Step = z.infer<typeof step>;

/** How a simulated phone meets a call. */
export const behaviour = z.discriminatedUnion('kind', [
  /** Rings, and answers after a while. Hangs up when its script is over, unless it stays. */
  z.strictObject({
    kind: z.literal('answers'),
    afterMs: milliseconds.default(500),
    script: z.array(step).max(200),
    /** Stays on the line, listening, until the other side hangs up. */
    stays: z.boolean().default(false),
  }),
  /** Final answers without ever being picked up. */
  z.strictObject({
    kind: z.literal('refuses'),
    sipCode: z.int().min(400).max(699),
    afterMs: milliseconds.default(0),
  }),
  /** Rings and rings. */
  z.strictObject({ kind: z.literal('never_answers') }),
]);

export type Behaviour = z.infer<typeof behaviour>;
export type BehaviourInput = z.input<typeof behaviour>;

/** The usual ones, by name. */
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

export type BehaviourName = keyof typeof BEHAVIOURS;
