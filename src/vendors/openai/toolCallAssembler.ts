import type { MakeId } from '../../base/values/ids.ts';
import type { ToolCallDeltaEvent, ToolCallEvent } from '../../models/ports/chatModel.ts';
import { asText, isRecord } from './looseJson.ts';

interface Draft {
  readonly index: number;
  /** The index that the endpoint sent; it may be missing, and several calls may share one. */
  readonly wireIndex: number | undefined;
  readonly wireId: string;
  readonly id: string;
  name: string;
  arguments: string;
  isAnnounced: boolean;
}

/**
 * Assembles tool calls from an endpoint's deltas. Endpoints differ: some leave out `index` or use 0 for every call and
 * tell calls apart by their ids, some leave out ids, some repeat id and name in every delta, some send arguments as an
 * object. A call is announced with its first arguments, so that a name that comes in several deltas is complete.
 */
export class ToolCallAssembler {
  readonly #makeId: MakeId;
  readonly #drafts: Draft[] = [];
  #isFinished = false;

  constructor(makeId: MakeId) {
    this.#makeId = makeId;
  }

  get count(): number {
    return this.#drafts.length;
  }

  /** @param delta - One element of a chunk's `tool_calls`; anything else is ignored. */
  add(delta: unknown): ToolCallDeltaEvent[] {
    if (this.#isFinished || !isRecord(delta)) return [];
    const called = isRecord(delta.function) ? delta.function : {};
    const name = asText(called.name);
    const wireIndex = typeof delta.index === 'number' ? delta.index : undefined;
    const draft = this.#findOrAdd(wireIndex, asText(delta.id), name);
    if (!draft) return [];
    if (!draft.isAnnounced && name !== draft.name) draft.name += name;
    const argumentsDelta = isRecord(called.arguments)
      ? JSON.stringify(called.arguments)
      : asText(called.arguments);
    if (argumentsDelta === '') return [];
    draft.arguments += argumentsDelta;
    return draft.name === '' ? [] : [announce(draft, argumentsDelta)];
  }

  /** @returns Announcements that are left and then every call, in order; nothing the second time. */
  finish(): (ToolCallDeltaEvent | ToolCallEvent)[] {
    if (this.#isFinished) return [];
    this.#isFinished = true;
    return this.#drafts
      .filter(({ name }) => name !== '')
      .flatMap((draft) => {
        const { index, id, name } = draft;
        const json = draft.arguments.trim() === '' ? '{}' : draft.arguments;
        const call: ToolCallEvent = { type: 'tool_call', index, id, name, arguments: json };
        return draft.isAnnounced ? [call] : [announce(draft, json), call];
      });
  }

  #findOrAdd(wireIndex: number | undefined, wireId: string, name: string): Draft | undefined {
    const known = this.#drafts.findLast((draft) => isSameCall(draft, wireIndex, wireId));
    if (known) return known;
    // A delta with neither a name nor an id belongs to no call.
    if (name === '' && wireId === '') return undefined;
    const id = wireId === '' ? `call_${this.#makeId().replaceAll('-', '')}` : wireId;
    const index = this.#drafts.length;
    const draft = { index, wireIndex, wireId, id, name: '', arguments: '', isAnnounced: false };
    this.#drafts.push(draft);
    return draft;
  }
}

function announce(draft: Draft, argumentsDelta: string): ToolCallDeltaEvent {
  const { index, id, name } = draft;
  if (draft.isAnnounced) return { type: 'tool_call_delta', index, argumentsDelta };
  draft.isAnnounced = true;
  return { type: 'tool_call_delta', index, id, name, argumentsDelta };
}

function isSameCall(draft: Draft, wireIndex: number | undefined, wireId: string): boolean {
  if (wireId !== '' && draft.wireId !== '' && wireId !== draft.wireId) return false;
  if (wireId !== '' && wireId === draft.wireId) return true;
  if (wireIndex !== undefined) return wireIndex === draft.wireIndex;
  return wireId === '';
}
