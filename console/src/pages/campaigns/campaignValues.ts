import type { components } from '../../api/schema.d.ts';

type Campaign = components['schemas']['Campaign'];
type Retry = Campaign['retry'];
type Pause = NonNullable<Campaign['pauseWhen']>;

/** The outcomes after which a contact may be called again, with the minutes of a new campaign. */
const RETRIED = { busy: 15, no_answer: 120, machine: 240, screening: undefined, failed: 60 } as const;
export type RetriedOutcome = keyof typeof RETRIED;
export const RETRIED_OUTCOMES = Object.keys(RETRIED) as RetriedOutcome[];

export interface RetryForm {
  readonly maxAttempts: number;
  /** After how many minutes a contact is called again; undefined for never. */
  readonly minutes: Readonly<Record<RetriedOutcome, number | undefined>>;
}

export function retryFormOf(retry: Retry | undefined): RetryForm {
  if (!retry) return { maxAttempts: 3, minutes: RETRIED };
  const { maxAttempts, rules } = retry;
  const minutesOf = (outcome: RetriedOutcome) =>
    rules.find(({ outcomes }) => outcomes.includes(outcome))?.afterMinutes;
  return {
    maxAttempts,
    minutes: Object.fromEntries(RETRIED_OUTCOMES.map((one) => [one, minutesOf(one)])) as RetryForm['minutes'],
  };
}

export function retryFrom({ maxAttempts, minutes }: RetryForm): Retry {
  const rules = RETRIED_OUTCOMES.flatMap((outcome) => {
    const afterMinutes = minutes[outcome];
    return afterMinutes === undefined ? [] : { outcomes: [outcome], afterMinutes };
  });
  return { maxAttempts, rules };
}

export interface PauseForm extends Pause {
  readonly isOn: boolean;
}

export function pauseFormOf(campaign: Campaign | undefined): PauseForm {
  const pauseWhen = campaign?.pauseWhen;
  return { isOn: pauseWhen !== null, failedPercent: 80, ofLast: 50, ...pauseWhen };
}

export const pauseFrom = ({ failedPercent, ofLast }: PauseForm): Pause => ({ failedPercent, ofLast });

/** The value of a field for date and time, by the browser's clock. @param at - ISO 8601. */
export function localTimeOf(at: string | undefined): string {
  if (at === undefined) return '';
  const date = new Date(at);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length);
}

/** The instant of a field for date and time, ISO 8601; null for an empty one. */
export const instantOf = (localTime: string): string | null =>
  localTime === '' ? null : new Date(localTime).toISOString();

/** A line a variable: `company = Acme`. What is no text, or has lines, is JSON. */
export function variablesText(variables: Readonly<Record<string, unknown>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name} = ${valueText(value)}`)
    .join('\n');
}

/** @param before - Keeps its values, of any type, where their lines are as they were. */
export function variablesFrom(
  text: string,
  before: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    linesOf(text).flatMap((line) => {
      const [name, value] = partsOf(line) ?? [];
      if (name === undefined) return [];
      return [[name, name in before && valueText(before[name]) === value ? before[name] : value]];
    }),
  );
}

/** The first line that is no variable. */
export const badVariableLine = (text: string): string | undefined =>
  linesOf(text).find((line) => partsOf(line) === undefined);

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

function partsOf(line: string): [name: string, value: string] | undefined {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(line) ?? [];
  return name.trim() === '' ? undefined : [name.trim(), value.trim()];
}

function valueText(value: unknown): string {
  const isLine = typeof value === 'string' && value.trim() === value && !/[\r\n]/.test(value);
  return isLine ? value : JSON.stringify(value);
}
