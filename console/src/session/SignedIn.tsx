import { Center, Loader, Modal } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useMemo, useRef } from 'react';

import { ApiProvider } from '../api/apiContext.tsx';
import { ErrorPage } from '../layout/ErrorPage.tsx';
import { textsIn } from '../texts.ts';
import { SignInForm, SignInPage } from './SignInPage.tsx';
import { type Session, SessionContext, sessionQuery } from './session.ts';

const texts = textsIn({
  en: {
    title: 'Sign in again',
    ended: 'Your session has ended, or its key was revoked. What you have entered on this page is kept.',
  },
  'zh-TW': { title: '請重新登入', ended: '登入已結束，或金鑰已被撤銷。您在此頁輸入的內容仍會保留。' },
});

/**
 * Shows the sign-in at the address that was asked for, and that page afterwards. A session that ends leaves the page as
 * it is: the same user signs in over it and goes on; for any other user the console starts anew.
 */
export function SignedIn({ children }: { children: ReactNode }) {
  const { data: current, error } = useQuery(sessionQuery);
  const last = useRef<Session>(undefined);
  if (current && isOfSameUser(current, last.current ?? current)) last.current = current;
  const session = last.current;
  const isEnded = current !== session;
  const isOther = isEnded && current?.kind !== 'none';
  useEffect(() => {
    if (isOther) location.assign('/console/');
  }, [isOther]);
  const renewSession = useRenewal(isEnded);
  const value = useMemo(() => session && { session, renewSession }, [session, renewSession]);
  // A page that is open outlasts an outage.
  if (error && !current) return <ErrorPage error={error} />;
  if (!value) {
    return current ? (
      <SignInPage />
    ) : (
      <Center mih="100dvh">
        <Loader aria-label="Callway" />
      </Center>
    );
  }
  return (
    <SessionContext value={value}>
      <ApiProvider>{children}</ApiProvider>
      <Modal opened={isEnded} onClose={() => undefined} withCloseButton={false} title={texts.title} centered>
        <SignInForm note={texts.ended} />
      </Modal>
    </SessionContext>
  );
}

function isOfSameUser(one: Session, other: Session): boolean {
  return one.kind !== 'none' && one.kind === other.kind && one.projectId === other.projectId;
}

/** Requests that found no session wait for the next one. */
function useRenewal(isEnded: boolean): () => Promise<void> {
  const queries = useQueryClient();
  const waiting = useRef(new Set<() => void>());
  useEffect(() => {
    if (isEnded) return;
    for (const resume of waiting.current) resume();
    waiting.current.clear();
  }, [isEnded]);
  return useCallback(async () => {
    const { kind } = await queries.fetchQuery({ ...sessionQuery, staleTime: 0 });
    if (kind === 'none') await new Promise<void>((resume) => waiting.current.add(resume));
  }, [queries]);
}
