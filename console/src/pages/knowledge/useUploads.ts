import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';

import { uploadForm } from '../../api/uploadForm.ts';

/** Files that are sent at the same time. */
const CONCURRENT = 2;

/** A file that was chosen. */
export interface Upload {
  id: number;
  file: File;
  /** 0 to 1. */
  sent: number;
  state: 'waiting' | 'sending' | 'failed';
  /** Of a failed one. */
  error?: Error;
}

/** Uploads files in the background; those that are uploaded leave the list and are among the documents. */
export function useUploads(projectId: string, knowledgebaseId: string) {
  const queries = useQueryClient();
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const queue = useRef<{ waiting: Upload[]; stops: Map<number, AbortController>; lastId: number }>({
    waiting: [],
    stops: new Map(),
    lastId: 0,
  });

  const change = useCallback((id: number, changes: Partial<Upload>) => {
    setUploads((all) => all.map((one) => (one.id === id ? { ...one, ...changes } : one)));
  }, []);
  const drop = useCallback((id: number) => setUploads((all) => all.filter((one) => one.id !== id)), []);

  const sendNext = useCallback(async () => {
    const { waiting, stops } = queue.current;
    if (stops.size >= CONCURRENT) return;
    const next = waiting.shift();
    if (!next) return;
    const { id, file } = next;
    const stop = new AbortController();
    stops.set(id, stop);
    change(id, { state: 'sending' });
    try {
      const onProgress = (sent: number) => change(id, { sent });
      const form = new FormData();
      form.append('dataset', file);
      const url = `/v1/projects/${projectId}/knowledgebases/${knowledgebaseId}/datasets`;
      await uploadForm(url, form, { projectId, onProgress, signal: stop.signal });
      await queries.invalidateQueries({ queryKey: ['documents', projectId] });
      drop(id);
    } catch (error) {
      if (stop.signal.aborted) drop(id);
      else change(id, { state: 'failed', error: error as Error });
    }
    stops.delete(id);
    void sendNext();
  }, [projectId, knowledgebaseId, queries, change, drop]);

  const add = (files: readonly File[]) => {
    const added = files.map((file): Upload => {
      queue.current.lastId += 1;
      return { id: queue.current.lastId, file, sent: 0, state: 'waiting' };
    });
    queue.current.waiting.push(...added);
    setUploads((all) => [...all, ...added]);
    for (let place = 0; place < CONCURRENT; place += 1) void sendNext();
  };

  /** Stops it, and takes it from the list. */
  const remove = (id: number) => {
    queue.current.waiting = queue.current.waiting.filter((one) => one.id !== id);
    queue.current.stops.get(id)?.abort();
    drop(id);
  };

  return { uploads, add, remove };
}
