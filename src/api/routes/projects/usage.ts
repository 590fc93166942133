import { z } from 'zod';
import { vendorQuotasUsed } from '../../../agents/accounts/dayQuotas.ts';
import { type QuotaName, quotas } from '../../../agents/accounts/quotas.ts';
import type { DayUsage, UsageKind } from '../../../agents/accounts/usage.ts';
import { notFound } from '../../../base/errors.ts';
import { DAY_MS } from '../../../base/values/clock.ts';
import { MILLIONTHS_PER_UNIT, MS_PER_MINUTE } from '../../../calls/limits/projectUsage.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, projectParams } from '../../schemas.ts';

const DAYS = 30;

const quotaUse = z.object({ used: z.number(), limit: z.number().nullable().describe('null is none.') });
const usage = z
  .object({
    quotas: z.object(
      Object.fromEntries(quotas.keyof().options.map((name) => [name, quotaUse])) as Record<
        QuotaName,
        typeof quotaUse
      >,
    ),
    days: z.array(
      z.object({
        date: z.iso.date(),
        calls: z.int().describe('Calls that ended, answered or not.'),
        minutes: z.number().describe('Connected minutes of these calls.'),
        chats: z.int(),
        tokens: z.int().describe('Of all model requests of turns, as the endpoint reports them.'),
        characters: z.int().describe('Spoken by the agent.'),
        cost: z
          .number()
          .optional()
          .describe('Of outbound calls by `callLimits.rates`, if the project has any.'),
      }),
    ),
  })
  .meta({ id: 'Usage' });

export function usageRoutes(
  app: App,
  { clock, access: { sessionCounter }, storage: { stores } }: HttpDeps,
): void {
  app.get(
    '/v1/projects/:projectId/usage',
    {
      config: { access: { kind: 'project', scope: 'read', admin: true } },
      schema: {
        ...about(
          'Projects',
          'Read quotas and usage',
          'What the project holds of each quota, and what it used in the last 30 days (UTC), newest first; a few seconds late. Days without use are left out.',
        ),
        params: projectParams,
        response: { 200: usage, ...errors() },
      },
    },
    async ({ params: { projectId } }) => {
      const project = await stores.projects.find(projectId);
      if (!project) throw notFound('Project');
      const firstDay = dayOf(clock.now() - (DAYS - 1) * DAY_MS);
      const [stored, sessionsPerDay, days] = await Promise.all([
        stores.quotas.readAll(projectId),
        sessionCounter.read(projectId),
        stores.usage.since(projectId, firstDay),
      ]);
      const today = days.filter(({ day }) => day === dayOf(clock.now()));
      const used = {
        ...stored,
        ...vendorQuotasUsed(Object.fromEntries(today.map(({ kind, amount }) => [kind, amount]))),
        sessionsPerDay,
      };
      const useOf = (name: QuotaName) => ({ used: used[name], limit: project.quotas[name] });
      const names = quotas.keyof().options;
      return {
        quotas: Object.fromEntries(names.map((name) => [name, useOf(name)])) as Record<
          QuotaName,
          z.infer<typeof quotaUse>
        >,
        days: byDay(days, project.callLimits.rates.length > 0),
      };
    },
  );
}

function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

function byDay(rows: readonly Omit<DayUsage, 'projectId'>[], hasRates: boolean) {
  const amounts = new Map<string, Partial<Record<UsageKind, number>>>();
  for (const { day, kind, amount } of rows) amounts.set(day, { ...amounts.get(day), [kind]: amount });
  return [...amounts].map(
    ([date, { calls = 0, callMs = 0, chats = 0, tokens = 0, characters = 0, costMillionths = 0 }]) => ({
      date,
      calls,
      minutes: Math.round((callMs / MS_PER_MINUTE) * 100) / 100,
      chats,
      tokens,
      characters,
      cost: hasRates ? costMillionths / MILLIONTHS_PER_UNIT : undefined,
    }),
  );
}
