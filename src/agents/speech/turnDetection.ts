import { z } from 'zod';

/** Detects the end of the caller's turn where neither the agent nor the node configures it. */
export const DEFAULT_TURN_DETECTION: TurnDetection = { mode: 'auto', eagerness: 'medium', preemptive: true };

export const turnDetection = z
  .strictObject({
    mode: z
      .enum(['auto', 'provider', 'silence'])
      .optional()
      .describe(
        'Whether the turn events of the speech recognition count beside silence and words (auto), alone (provider), or not at all (silence). Default: auto.',
      ),
    eagerness: z
      .enum(['low', 'medium', 'high'])
      .optional()
      .describe('How soon a pause ends the caller’s turn. Default: medium.'),
    preemptive: z
      .boolean()
      .optional()
      .describe('Whether the agent prepares its answer before the end is sure. Default: true.'),
  })
  .describe(
    'On the phone: how the end of the caller’s turn is detected. A node’s fields override the agent’s.',
  )
  .meta({ examples: [{ eagerness: 'low' }] });

export type TurnDetectionConfig = z.infer<typeof turnDetection>;

export type TurnDetection = Required<{
  [Field in keyof TurnDetectionConfig]: NonNullable<TurnDetectionConfig[Field]>;
}>;

/** Returns the node's setting, else the agent's, else the default. */
export function turnDetectionOf(
  agent: TurnDetectionConfig | null | undefined,
  node: TurnDetectionConfig | undefined,
): TurnDetection {
  return {
    mode: node?.mode ?? agent?.mode ?? DEFAULT_TURN_DETECTION.mode,
    eagerness: node?.eagerness ?? agent?.eagerness ?? DEFAULT_TURN_DETECTION.eagerness,
    preemptive: node?.preemptive ?? agent?.preemptive ?? DEFAULT_TURN_DETECTION.preemptive,
  };
}
