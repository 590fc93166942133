import type { Rates, SessionCost } from '../../agents/cost/rates.ts';
import type { ModelUsage, SessionUsage } from '../../agents/cost/usage.ts';
import type { BilledLeg } from '../../calls/call.ts';
import type { CostSum } from '../../calls/callStore.ts';
import { carrierRate, MS_PER_MINUTE } from '../../calls/limits/projectUsage.ts';

/** Costs are summed in billionths of the currency: sums of integers are exact, and show at most 9 decimals. */
const UNIT = 1_000_000_000;
const SECONDS_PER_MINUTE = 60;
const MILLION = 1_000_000;
/** What vendors add to a model's name for one of its versions. */
const VERSION = /^(-\d{4}-\d{2}-\d{2}|[-@]\d{8}|-\d{3,4}|-latest)$/;
const CARRIER = 'carrier';

type SpeechUsage = SessionUsage['recognition'][number] | SessionUsage['synthesis'][number];

/**
 * Prices what a session used.
 *
 * @param legs - The call's legs that are paid for.
 */
export function costOf(usage: SessionUsage, legs: readonly BilledLeg[], rates: Rates): SessionCost {
  const unpriced = new Set<string>();
  const priced = <Used>(used: readonly Used[], priceOf: (one: Used) => number | string): number =>
    used.reduce((sum, one) => {
      const price = priceOf(one);
      if (typeof price === 'string') unpriced.add(price);
      return typeof price === 'string' ? sum : sum + price;
    }, 0);
  const ofModel = (used: ModelUsage) => modelPrice(rates.chat, used) ?? used.model;
  const talked = legs.filter(({ talkTimeMs }) => talkTimeMs > 0);
  const parts = {
    chat: priced(usage.chat, ofModel),
    recognition: priced(usage.recognition, (used) => {
      const rate = speechRate(rates.recognition, used);
      return rate ? units(rate.perMinute, used.seconds / SECONDS_PER_MINUTE) : nameOf(used);
    }),
    synthesis: priced(usage.synthesis, (used) => {
      const rate = speechRate(rates.synthesis, used);
      return rate ? units(rate.perMillionCharacters, used.characters / MILLION) : nameOf(used);
    }),
    carrier: priced(talked, ({ to, talkTimeMs }) => {
      const perMinute = carrierRate(rates.carrier, to);
      return perMinute === undefined ? CARRIER : units(perMinute, talkTimeMs / MS_PER_MINUTE);
    }),
    afterwards: priced(usage.afterwards.chat, ofModel),
  };
  const total = Object.values(parts).reduce((sum, part) => sum + part, 0);
  return {
    total: total / UNIT,
    chat: parts.chat / UNIT,
    recognition: parts.recognition / UNIT,
    synthesis: parts.synthesis / UNIT,
    carrier: parts.carrier / UNIT,
    afterwards: parts.afterwards / UNIT,
    currency: rates.currency,
    unpriced: [...unpriced].sort(),
  };
}

/** Adds up costs by currency, that of the last one first; undefined for none. */
export function sumOfCosts(costs: readonly CostSum[]): CostSum | undefined {
  const currencies = [...new Set(costs.map(({ currency }) => currency).reverse())];
  const [sum, ...others] = currencies.map((currency) => {
    const alike = costs.filter((cost) => cost.currency === currency);
    return {
      total:
        units(
          1,
          alike.reduce((total, one) => total + one.total, 0),
        ) / UNIT,
      currency,
    };
  });
  return sum && { ...sum, others: others.length > 0 ? others : undefined };
}

/** Prices the tokens of one answer; undefined where a model has no rate. */
export function tokenCost(used: readonly ModelUsage[], rates: Rates): number | undefined {
  const prices = used.map((one) => modelPrice(rates.chat, one));
  const sum = prices.reduce<number | undefined>(
    (total, price) => (total === undefined || price === undefined ? undefined : total + price),
    0,
  );
  return sum === undefined ? undefined : sum / UNIT;
}

/** @returns Undefined for a model without a rate, and for one that answered and whose endpoint told no tokens. */
function modelPrice(rates: Rates['chat'], used: ModelUsage): number | undefined {
  const rate = rateOfModel(rates, used.model);
  const { inputTokens, cachedInputTokens, outputTokens } = used;
  if (!rate || inputTokens + outputTokens === 0) return undefined;
  const { inputPerMillion, outputPerMillion, cachedInputPerMillion = inputPerMillion } = rate;
  const millionfold =
    (inputTokens - cachedInputTokens) * inputPerMillion +
    cachedInputTokens * cachedInputPerMillion +
    outputTokens * outputPerMillion;
  return units(1, millionfold / MILLION);
}

/** Returns the rate of the model, else that of the model that it is a dated version of. */
function rateOfModel<Rate extends { readonly model?: string | undefined }>(
  rates: readonly Rate[],
  model: string,
): Rate | undefined {
  return (
    rates.find((rate) => rate.model === model) ??
    rates.find(
      (rate) =>
        rate.model !== undefined &&
        model.startsWith(rate.model) &&
        VERSION.test(model.slice(rate.model.length)),
    )
  );
}

function speechRate<Rate extends { readonly provider: string; readonly model?: string | undefined }>(
  rates: readonly Rate[],
  { provider, model }: SpeechUsage,
): Rate | undefined {
  const ofProvider = rates.filter((rate) => rate.provider === provider);
  const ofModel = model === undefined ? undefined : rateOfModel(ofProvider, model);
  return ofModel ?? ofProvider.find((rate) => rate.model === undefined);
}

const units = (price: number, amount: number): number => Math.round(price * amount * UNIT);

const nameOf = ({ provider, model }: SpeechUsage): string =>
  model === undefined ? provider : `${provider}/${model}`;
