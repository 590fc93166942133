import { z } from 'zod';
import { headerList, shownHeaderList, targetUrl, withoutHeaderValues } from '../../agents/fields.ts';
import { invalid } from '../../base/errors.ts';
import { omitUndefined } from '../../base/values/omitUndefined.ts';
import { sessionFilterBody } from '../../engine/history/sessionFilter.ts';
import { checkTarget, type TargetPolicy } from '../../http/target.ts';
import { FIGURE_METRICS } from '../insights/metrics.ts';

/** A day: each look reads the sessions of the window. */
const MAX_WINDOW_MINUTES = 1_440;
const MAX_MIN_COUNT = 1_000_000;
/** With fewer, chance alone moves a share by tens of points. */
const DEFAULT_MIN_COUNT = 20;
/** Looks in a row, a minute apart, after which an alert that fires is over. */
export const CALM_LOOKS = 3;

const webhook = z.strictObject({
  url: targetUrl.describe(
    'Gets `alert.firing` and `alert.resolved`, signed and repeated as an `eventWebhook`.',
  ),
  headers: headerList.default([]),
});

const fields = {
  name: z.string().min(1).max(128).meta({ example: 'Few successes' }),
  metric: z
    .enum(FIGURE_METRICS)
    .describe('A metric of the insights, of the sessions that ended within the window.'),
  filter: z.strictObject(sessionFilterBody).describe('As insights have it. Default: all sessions.'),
  windowMinutes: z.int().min(1).max(MAX_WINDOW_MINUTES),
  minCount: z
    .int()
    .min(0)
    .max(MAX_MIN_COUNT)
    .describe(
      'The alert does not begin to fire with fewer sessions, calls, turns or tool calls in the window. It does not count for `below` a number, such as that of `calls`, of which few are what it waits for.',
    ),
  enabled: z.boolean().describe('false: it is not looked at, and is over if it fires.'),
};
const bound = z.number().describe('In the metric’s unit: 0.8 of a share, milliseconds of `latencyP95`.');

export const alertInput = z
  .strictObject({
    ...fields,
    filter: fields.filter.default({}),
    minCount: fields.minCount.default(DEFAULT_MIN_COUNT),
    enabled: fields.enabled.default(true),
    above: bound.optional().describe('Fires while the metric is above. Either this or `below`.'),
    below: bound.optional().describe('Fires while the metric is below.'),
    webhook: webhook.nullable().default(null),
  })
  .meta({
    id: 'NewAlert',
    examples: [{ name: 'Few successes', metric: 'success', windowMinutes: 60, below: 0.8 }],
  });
type AlertInput = z.output<typeof alertInput>;

export const alertPatch = z
  .strictObject({ ...fields, above: bound.nullable(), below: bound.nullable(), webhook: webhook.nullable() })
  .partial()
  .meta({ id: 'AlertPatch', examples: [{ below: 0.7 }] });
type AlertPatch = z.infer<typeof alertPatch>;

const alertState = z.enum(['ok', 'firing']);

/** An alert in the API. */
export const alertResource = z
  .object({
    id: z.uuid(),
    ...fields,
    above: bound.optional(),
    below: bound.optional(),
    webhook: z.object({ url: z.string(), headers: shownHeaderList }).nullable(),
    state: alertState.describe(
      `\`firing\` from the first look at which the metric is beyond its bound; \`ok\` again after ${CALM_LOOKS} looks in a row at which it is not, so that a metric at its bound does not flap. There is a look once a minute.`,
    ),
    since: z.iso.datetime().describe('Since when it is in this state.'),
    lastValue: z.number().nullable().describe('At the last look; null where there was nothing to measure.'),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Alert' });

type ShownAlert = z.infer<typeof alertResource>;

/** An alert, as stored. */
export interface Alert extends AlertInput {
  readonly id: string;
  readonly projectId: string;
  readonly state: z.infer<typeof alertState>;
  readonly since: string;
  readonly lastValue: number | null;
  /** Looks in a row at which an alert that fires was not beyond its bound. */
  readonly calmLooks: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export function shownAlert(alert: Alert, showsSecrets: boolean): ShownAlert {
  const { projectId: _projectId, calmLooks: _calmLooks, ...shown } = alert;
  return showsSecrets ? shown : withoutSecrets(shown);
}

export function withoutSecrets({ webhook: target, ...alert }: ShownAlert): ShownAlert {
  return { ...alert, webhook: target && { ...target, headers: withoutHeaderValues(target.headers) } };
}

/** Applies a patch; a new bound replaces the other one. */
export function patchAlert(alert: Alert, { above, below, ...patch }: AlertPatch): Alert {
  const isReplaced = above != null || below != null;
  const boundAfter = (given: number | null | undefined, before: number | undefined) =>
    isReplaced || given === null ? (given ?? undefined) : before;
  return {
    ...alert,
    ...omitUndefined(patch),
    above: boundAfter(above, alert.above),
    below: boundAfter(below, alert.below),
  };
}

/** @throws {CallwayError} 400 without exactly one bound, or for an address that must not be reached. */
export function requireValidAlert({ above, below, webhook: target }: AlertInput, policy: TargetPolicy): void {
  if ((above === undefined) === (below === undefined)) {
    const message = 'An alert has either above or below';
    throw invalid('invalid_request', message, [{ path: '/above', message }]);
  }
  const problem = target && checkTarget(target.url, policy);
  if (problem)
    throw invalid('invalid_request', problem.message, [{ path: '/webhook/url', message: problem.message }]);
}
