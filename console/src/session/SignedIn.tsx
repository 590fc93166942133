import { Center, Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useRef } from 'react';

import { ErrorPage } from '../layout/ErrorPage.tsx';
import { SignInPage } from './SignInPage.tsx';
import { sessionQuery } from './session.ts';

/** Shows the sign-in at the address that was asked for, and that page afterwards. */
export function SignedIn({ children }: { children: ReactNode }) {
  const { data: session, error } = useQuery(sessionQuery);
  const wasSignedIn = useRef(false);
  if (session && session.kind !== 'none') wasSignedIn.current = true;
  if (error) return <ErrorPage error={error} />;
  if (!session) {
    return (
      <Center mih="100dvh">
        <Loader role="status" aria-label="Callway" />
      </Center>
    );
  }
  return session.kind === 'none' ? <SignInPage hasEnded={wasSignedIn.current} /> : children;
}
