import {
  Anchor,
  type AnchorProps,
  Button,
  type ButtonProps,
  type ElementProps,
  NavLink,
  type NavLinkProps,
} from '@mantine/core';
import { createLink } from '@tanstack/react-router';

type Props<Own> = Own & ElementProps<'a', keyof Own & string>;

/** A link to a page of the console. */
export const PageLink = createLink((props: Props<AnchorProps>) => <Anchor {...props} />);

/** A link that looks like a button. */
export const ButtonLink = createLink((props: Props<ButtonProps>) => <Button component="a" {...props} />);

/** A line of the menu. */
export const MenuLink = createLink((props: Props<NavLinkProps>) => <NavLink {...props} />);
