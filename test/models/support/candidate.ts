import type { Candidate } from '../../../src/models/failover/failover.ts';

/** A vendor as a candidate of a failover, with a breaker of its name. */
export function candidate<Model extends { readonly name: string }>(model: Model): Candidate<Model> {
  return { model, name: model.name, breaker: model.name };
}
