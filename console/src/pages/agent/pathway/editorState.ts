import { isSame } from './differences.ts';
import type { Graph } from './graph.ts';

const MAX_UNDO_STEPS = 200;

/** A pathway as the service has it. */
export interface Stored {
  readonly version: number;
  readonly graph: Graph;
}

/** A pathway while it is edited. */
export interface EditorState {
  /** What the edits are based on. */
  readonly base: Stored;
  readonly graph: Graph;
  readonly undo: readonly Graph[];
  readonly redo: readonly Graph[];
  /** Edits with the same one in a row are one step of undo, such as the letters of one field. */
  readonly step: string | undefined;
  readonly hasChanges: boolean;
}

export type EditorAction =
  | { readonly kind: 'edit'; readonly change: (graph: Graph) => Graph; readonly step?: string }
  | { readonly kind: 'undo' }
  | { readonly kind: 'redo' }
  /** The service's copy takes the place of the editor's. */
  | { readonly kind: 'load'; readonly stored: Stored }
  /** The service has stored `sent`; edits since then stay. */
  | { readonly kind: 'saved'; readonly stored: Stored; readonly sent: Graph };

export function startEditing(stored: Stored): EditorState {
  return { base: stored, graph: stored.graph, undo: [], redo: [], step: undefined, hasChanges: false };
}

/**
 * ```
 *   load ──▶ unchanged ──edit, undo, redo──▶ changed ──saved──▶ unchanged
 *                 ▲────────── undo to the base ──┘
 * ```
 */
export function reduceEditor(state: EditorState, action: EditorAction): EditorState {
  switch (action.kind) {
    case 'edit': {
      const graph = action.change(state.graph);
      if (graph === state.graph) return state;
      const isSameStep = action.step !== undefined && action.step === state.step;
      const undo = isSameStep ? state.undo : [...state.undo, state.graph].slice(-MAX_UNDO_STEPS);
      return compared({ ...state, graph, undo, redo: [], step: action.step });
    }
    case 'undo': {
      const graph = state.undo.at(-1);
      if (!graph) return state;
      const redo = [...state.redo, state.graph];
      return compared({ ...state, graph, undo: state.undo.slice(0, -1), redo, step: undefined });
    }
    case 'redo': {
      const graph = state.redo.at(-1);
      if (!graph) return state;
      const undo = [...state.undo, state.graph];
      return compared({ ...state, graph, undo, redo: state.redo.slice(0, -1), step: undefined });
    }
    case 'load':
      return startEditing(action.stored);
    case 'saved': {
      const graph = state.graph === action.sent ? action.stored.graph : state.graph;
      return compared({ ...state, base: action.stored, graph, step: undefined });
    }
  }
}

function compared(state: EditorState): EditorState {
  return { ...state, hasChanges: !isSame(state.graph, state.base.graph) };
}
