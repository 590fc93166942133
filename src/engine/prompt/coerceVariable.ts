import type { AgentConfig } from '../../agents/agentConfig.ts';

type VariableConfig = NonNullable<AgentConfig['variableConfigs']>[number];

/** Converts a value that a model extracted to its variable's type. @returns Undefined where it has no such value. */
export function coerceVariable(config: VariableConfig, value: unknown): unknown {
  if (value === null || value === undefined || String(value).trim() === '') return undefined;
  switch (config.type) {
    case 'string':
      return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : undefined;
    case 'number':
      return toNumber(value);
    case 'boolean':
      return toBoolean(value);
    case 'date':
      return toDate(value);
    case 'enum':
      return config.values?.find((one) => one.toLowerCase() === String(value).trim().toLowerCase());
  }
}

function toNumber(value: unknown): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const digits = String(value).replaceAll(',', '').trim();
  // Number('') is 0, but an answer without a digit is not zero.
  return digits !== '' && Number.isFinite(Number(digits)) ? Number(digits) : undefined;
}

function toBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const text = String(value).trim().toLowerCase();
  if (['true', 'yes', '1'].includes(text)) return true;
  return ['false', 'no', '0'].includes(text) ? false : undefined;
}

/** @returns A valid calendar date as `YYYY-MM-DD`. */
function toDate(value: unknown): string | undefined {
  const [day] = /^\d{4}-\d{2}-\d{2}/.exec(String(value)) ?? [];
  if (day === undefined) return undefined;
  const date = new Date(`${day}T00:00:00Z`);
  return Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== day ? undefined : day;
}
