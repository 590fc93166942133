import { LRUCache } from 'lru-cache';
import { templateVariables } from '../../agents/pathway/templates.ts';
import type { AgentRelease } from '../../agents/release.ts';
import type { Session } from '../session/session.ts';
import { type Render, stablePrompt } from './prompts.ts';

/** Of all prefixes together: a few hundred sessions with long prompts. */
const MAX_CACHED_CHARACTERS = 16 * 1_048_576;

export interface PrefixInput {
  readonly session: Session;
  readonly release: AgentRelease;
  readonly journal: { readonly variables: Readonly<Record<string, unknown>> };
  readonly render: Render;
}

/**
 * Renders the stable prompt of each session, and again only when a variable that its templates use has changed. The
 * prompt then stays the same from turn to turn, so that a provider's prompt cache hits, even where a template depends on
 * the time.
 */
export class PromptPrefixes {
  readonly #bySession = new LRUCache<string, { readonly values: string; readonly text: string }>({
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: ({ values, text }) => values.length + text.length,
  });
  readonly #variables = new WeakMap<AgentRelease, readonly string[]>();

  of({ session, release, journal, render }: PrefixInput): string {
    const { memory } = session.state;
    const used = this.#variablesOf(release).map((name) => journal.variables[name]);
    const values = JSON.stringify([memory, ...used]);
    const known = this.#bySession.get(session.instanceId);
    if (known?.values === values) return known.text;
    const text = stablePrompt({ release, channel: session.channel, memory, render });
    this.#bySession.set(session.instanceId, { values, text });
    return text;
  }

  #variablesOf(release: AgentRelease): readonly string[] {
    const known = this.#variables.get(release);
    if (known) return known;
    const { agent, pathway } = release;
    const steps = agent.type === 'monolithic' ? pathway.nodes.map(({ data }) => data.prompt) : [];
    const names = [...new Set([agent.globalPrompt ?? '', ...steps].flatMap(variablesIn))];
    this.#variables.set(release, names);
    return names;
  }
}

function variablesIn(template: string): string[] {
  try {
    return templateVariables(template);
  } catch {
    // Rendering the malformed template reports it.
    return [];
  }
}
