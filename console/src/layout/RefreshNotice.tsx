import { Alert, Button, Group, Text } from '@mantine/core';
import { notifyManager, type QueryCache, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useSyncExternalStore } from 'react';

import { ApiError } from '../api/client.ts';
import { formatDateTime } from '../formats.ts';
import { textsIn } from '../texts.ts';
import classes from './layout.module.css';

const texts = textsIn({
  en: {
    old: (at: string) => `This page could not be refreshed. What it shows may be old: it is of ${at}.`,
    retry: 'Retry',
  },
  'zh-TW': {
    old: (at: string) => `無法更新此頁，內容可能已過時，為 ${at} 的資料。`,
    retry: '重試',
  },
});

const RETRY_EVERY_MS = 10_000;

/** Says that what a page shows may be old, while it cannot be loaded again; tries until it can. */
export function RefreshNotice() {
  const queries = useQueryClient();
  const cache = queries.getQueryCache();
  const oldest = useSyncExternalStore(
    useCallback((notify) => cache.subscribe(notifyManager.batchCalls(notify)), [cache]),
    () => oldestIn(cache),
  );
  const retry = useCallback(
    () => queries.refetchQueries({ type: 'active', predicate: isOld }, { cancelRefetch: false }),
    [queries],
  );
  const isShown = oldest !== undefined;
  useEffect(() => {
    if (!isShown) return;
    const timer = setInterval(retry, RETRY_EVERY_MS);
    return () => clearInterval(timer);
  }, [isShown, retry]);
  return (
    <div className={classes.notice} aria-live="polite">
      {oldest && (
        <Alert color="yellow" variant="outline" p="xs">
          <Group justify="space-between" gap="xs">
            <Text size="sm">
              {texts.old(formatDateTime(new Date(oldest.dataUpdatedAt).toISOString()))}{' '}
              {oldest.error instanceof ApiError && oldest.error.message}
            </Text>
            <Button
              size="compact-sm"
              variant="default"
              onClick={retry}
              loading={oldest.fetchStatus !== 'idle'}
            >
              {texts.retry}
            </Button>
          </Group>
        </Alert>
      )}
    </div>
  );
}

type CachedQuery = ReturnType<QueryCache['getAll']>[number];

/** Whether it was loaded, and could not be loaded again. */
const isOld = ({ state }: CachedQuery): boolean => state.status === 'error' && state.data !== undefined;

/** Of what the page shows. */
function oldestIn(cache: QueryCache): CachedQuery['state'] | undefined {
  const states = cache.findAll({ type: 'active', predicate: isOld }).map(({ state }) => state);
  return states.toSorted((one, other) => one.dataUpdatedAt - other.dataUpdatedAt)[0];
}
