import type { MakeId } from '../../base/ids.ts';
import type { ToolCallDeltaEvent, ToolCallEvent } from '../ports/chatModel.ts';
import { isRecord, textOf } from './wire.ts';

/** Puts tool calls together from the pieces in which endpoints send them. */
export interface ToolCallAssembler {
  /** @param piece - One element of a chunk's `tool_calls`; anything else is passed over. */
  add(piece: unknown): ToolCallDeltaEvent[];
  /** Tells that no more pieces come. @returns What is left to announce, then every call whole, in order; once only. */
  finish(): (ToolCallDeltaEvent | ToolCallEvent)[];
  /** How many calls there are. */
  readonly count: number;
}

interface Draft {
  readonly index: number;
  /** As the endpoint wrote it: it may lack, and several calls may share one. */
  readonly wireIndex: number | undefined;
  readonly wireId: string;
  readonly id: string;
  name: string;
  arguments: string;
  announced: boolean;
}

/**
 * Endpoints differ: some leave out `index` or use 0 for every call and tell calls apart by their ids, some leave out
 * ids, some repeat id and name in every piece, some send arguments as an object. A call is announced with its first
 * arguments, so that a name that comes in pieces is whole by then.
 */
export function createToolCallAssembler(makeId: MakeId): ToolCallAssembler {
  const drafts: Draft[] = [];
  let finished = false;

  const announce = (draft: Draft, argumentsDelta: string): ToolCallDeltaEvent => {
    const { index, id, name } = draft;
    if (draft.announced) return { type: 'tool_call_delta', index, argumentsDelta };
    draft.announced = true;
    return { type: 'tool_call_delta', index, id, name, argumentsDelta };
  };

  const draftFor = (wireIndex: number | undefined, wireId: string, name: string): Draft | undefined => {
    const known = drafts.findLast((draft) => isSameCall(draft, wireIndex, wireId));
    if (known) return known;
    // A piece that neither names a tool nor belongs to a call cannot be placed.
    if (name === '' && wireId === '') return undefined;
    const id = wireId === '' ? `call_${makeId().replaceAll('-', '')}` : wireId;
    const draft = { index: drafts.length, wireIndex, wireId, id, name: '', arguments: '', announced: false };
    drafts.push(draft);
    return draft;
  };

  return {
    get count() {
      return drafts.length;
    },
    add(piece) {
      if (finished || !isRecord(piece)) return [];
      const called = isRecord(piece.function) ? piece.function : {};
      const name = textOf(called.name);
      const wireIndex = typeof piece.index === 'number' ? piece.index : undefined;
      const draft = draftFor(wireIndex, textOf(piece.id), name);
      if (!draft) return [];
      if (!draft.announced && name !== draft.name) draft.name += name;
      const argumentsDelta = argumentsOf(called.arguments);
      if (argumentsDelta === '') return [];
      draft.arguments += argumentsDelta;
      return draft.name === '' ? [] : [announce(draft, argumentsDelta)];
    },
    finish() {
      if (finished) return [];
      finished = true;
      return drafts
        .filter(({ name }) => name !== '')
        .flatMap((draft) => {
          const { index, id, name } = draft;
          const whole = draft.arguments.trim() === '' ? '{}' : draft.arguments;
          const call: ToolCallEvent = { type: 'tool_call', index, id, name, arguments: whole };
          return draft.announced ? [call] : [announce(draft, whole), call];
        });
    },
  };
}

function isSameCall(draft: Draft, wireIndex: number | undefined, wireId: string): boolean {
  if (wireId !== '' && draft.wireId !== '' && wireId !== draft.wireId) return false;
  if (wireId !== '' && wireId === draft.wireId) return true;
  if (wireIndex !== undefined) return wireIndex === draft.wireIndex;
  return wireId === '';
}

function argumentsOf(value: unknown): string {
  return isRecord(value) ? JSON.stringify(value) : textOf(value);
}
