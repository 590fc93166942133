import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useReducer } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { ApiError, bodyOf } from '../../../api/client.ts';
import { pathwayQuery, putPathway } from '../agentQueries.ts';
import { type EditorState, reduceEditor, type Stored, startEditing } from './editorState.ts';
import { inLanguage, type Problem } from './findings.ts';
import type { Graph } from './graph.ts';

/** After the last change: a review reads the whole pathway. */
const REVIEW_DELAY_MS = 500;

export type PathwayEditor = ReturnType<typeof usePathwayEditor>;

/**
 * The pathway of a project while it is edited: changes are kept in the browser until they are saved, all at once.
 *
 * @param stored - As it was when the page was opened.
 */
export function usePathwayEditor(projectId: string, stored: Stored) {
  const api = useApi();
  const queries = useQueryClient();
  const query = pathwayQuery(api, projectId);
  const { data: newest = stored } = useQuery(query);
  const [state, dispatch] = useReducer(reduceEditor, stored, startEditing);
  const isBehind = newest.version > state.base.version;
  const save = useMutation({
    mutationFn: async ({ graph, version }: { graph: Graph; version: number }) =>
      await putPathway(api, projectId, graph, version),
    onSuccess: (saved, { graph }) => {
      dispatch({ kind: 'saved', stored: saved, sent: graph });
      queries.setQueryData(query.queryKey, saved);
      void queries.invalidateQueries({ queryKey: ['versions', projectId] });
    },
    onError: (error) => {
      if (isConflict(error)) void queries.invalidateQueries({ queryKey: query.queryKey });
    },
  });
  // Another editor's version, or a restored one: nothing here is unsaved.
  useEffect(() => {
    if (isBehind && !state.hasChanges) dispatch({ kind: 'load', stored: newest });
  }, [isBehind, state.hasChanges, newest]);
  return {
    ...state,
    dispatch,
    save,
    /** The version that another editor has saved. */
    theirs: isBehind && state.hasChanges ? newest : undefined,
    problems: useReview(projectId, state),
  };
}

function useReview(projectId: string, { graph }: EditorState): readonly Problem[] {
  const api = useApi();
  const [settled] = useDebouncedValue(graph, REVIEW_DELAY_MS);
  const { data } = useQuery({
    queryKey: ['review', projectId, revisionOf(settled)],
    queryFn: async () => {
      const { problems } = await bodyOf(
        api.POST('/v1/projects/{projectId}/pathway/validate', {
          params: { path: { projectId } },
          body: settled,
        }),
      );
      return await inLanguage(problems);
    },
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  return data ?? NO_PROBLEMS;
}

export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.status === 412;
}

const NO_PROBLEMS: readonly Problem[] = [];
const revisions = new WeakMap<Graph, number>();
let lastRevision = 0;

/** A short key of a graph, in place of all its text. */
function revisionOf(graph: Graph): number {
  const known = revisions.get(graph);
  if (known !== undefined) return known;
  lastRevision += 1;
  revisions.set(graph, lastRevision);
  return lastRevision;
}
