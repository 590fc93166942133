import type { AgentConfig } from '../../agents/agentConfig.ts';
import { RESERVED_VARIABLES } from '../../agents/fields.ts';
import type { CallFacts, Session } from './session.ts';

/** The other party's number. */
export function customerNumberOf({ direction, fromNumber, toNumber }: CallFacts): string {
  return direction === 'inbound' ? fromNumber : toNumber;
}

type Variables = Readonly<Record<string, unknown>>;
type SessionWithFacts = Pick<Session, 'channel'> & { readonly state: Pick<Session['state'], 'call'> };

/** The variables that templates, conditions and tools read: the session's own, and the facts, which only the service sets. */
export function withFacts(variables: Variables, { channel, state: { call } }: SessionWithFacts): Variables {
  return { ...withoutFacts(variables), channel, ...(call ? { call } : {}) };
}

export function withoutFacts(variables: Variables): Variables {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !RESERVED_VARIABLES.includes(name)));
}

/** Variables with facts, as a model is told them. The ids of the call mean nothing to it. */
export function factsForModel(
  variables: Variables,
  { state: { call } }: SessionWithFacts,
  { shareCallerNumber }: AgentConfig,
): Variables {
  if (!call) return variables;
  const { direction, fromNumber, toNumber } = call;
  return { ...variables, call: { direction, ...(shareCallerNumber ? { fromNumber, toNumber } : {}) } };
}
