import { ActionIcon, Burger, Group, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ExitIcon, MoonIcon, SunIcon } from '@radix-ui/react-icons';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useParams, useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';

import { signOut, useSession } from '../session/session.ts';
import { textsIn } from '../texts.ts';
import classes from './layout.module.css';
import { MenuLink, PageLink } from './links.tsx';
import { projectMenu } from './pages.ts';
import { RefreshNotice } from './RefreshNotice.tsx';

const texts = textsIn({
  en: {
    skip: 'Skip to the page',
    menu: 'Menu',
    pages: 'Pages',
    projects: 'Projects',
    doNotCall: 'Do not call',
    health: 'Health',
    dark: 'Dark',
    light: 'Light',
    signOut: 'Sign out',
  },
  'zh-TW': {
    skip: '跳到頁面內容',
    menu: '選單',
    pages: '頁面',
    projects: '專案',
    doNotCall: '勿撥名單',
    health: '健康狀態',
    dark: '深色',
    light: '淺色',
    signOut: '登出',
  },
});

export function Layout({ children }: { children: ReactNode }) {
  const [isOpen, menu] = useDisclosure();
  const page = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const shownPath = useRef(path);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a chosen page closes the menu of a small screen.
  useEffect(() => {
    menu.close();
    // The focus was on what the page before had.
    if (path !== shownPath.current) page.current?.focus();
    shownPath.current = path;
  }, [path]);
  return (
    <>
      <button type="button" className={classes.skip} onClick={() => page.current?.focus()}>
        {texts.skip}
      </button>
      <header className={classes.header}>
        <Group gap="sm" wrap="nowrap">
          <Burger
            opened={isOpen}
            onClick={menu.toggle}
            hiddenFrom="sm"
            size="sm"
            aria-label={texts.menu}
            aria-expanded={isOpen}
          />
          <PageLink to="/" underline="never" c="inherit" fw={700}>
            Callway
          </PageLink>
        </Group>
        <HeaderActions />
      </header>
      <nav className={classes.menu} aria-label={texts.pages} data-open={isOpen || undefined}>
        <Menu />
      </nav>
      <main className={classes.page} ref={page} tabIndex={-1}>
        <RefreshNotice />
        {children}
      </main>
    </>
  );
}

function HeaderActions() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const queries = useQueryClient();
  const { mutate: leave, isPending } = useMutation({
    mutationFn: signOut,
    // Nothing of the session stays in memory.
    onSuccess: () => location.assign('/console/'),
    onSettled: () => queries.clear(),
  });
  const isDark = scheme === 'dark';
  return (
    <Group gap="xs" wrap="nowrap">
      <ActionIcon
        variant="default"
        onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
        aria-label={isDark ? texts.light : texts.dark}
      >
        {isDark ? <SunIcon /> : <MoonIcon />}
      </ActionIcon>
      <ActionIcon variant="default" onClick={() => leave()} loading={isPending} aria-label={texts.signOut}>
        <ExitIcon />
      </ActionIcon>
    </Group>
  );
}

function Menu() {
  const { kind, scopes } = useSession();
  const { projectId } = useParams({ strict: false });
  const isShown = (scope: (typeof projectMenu)[number]['scope']) =>
    scope === undefined || kind === 'operator' || (scopes ?? []).includes(scope);
  return (
    <>
      {kind === 'operator' && (
        <MenuLink to="/projects" label={texts.projects} activeOptions={{ exact: true }} />
      )}
      {projectId !== undefined &&
        projectMenu
          .filter(({ scope }) => isShown(scope))
          .map(({ to, label }) => (
            <MenuLink
              key={to}
              to={to}
              params={{ projectId }}
              label={label}
              activeOptions={{ exact: to === '/projects/$projectId' }}
            />
          ))}
      {kind === 'operator' && (
        <>
          <MenuLink to="/do-not-call" label={texts.doNotCall} mt="auto" />
          <MenuLink to="/health" label={texts.health} />
        </>
      )}
    </>
  );
}
