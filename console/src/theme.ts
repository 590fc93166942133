import { Badge, type CSSVariablesResolver, createTheme, Modal } from '@mantine/core';

import { textsIn } from './texts.ts';

const texts = textsIn({
  en: { close: 'Close', reveal: 'Show or hide' },
  'zh-TW': { close: '關閉', reveal: '顯示或隱藏' },
});

export const theme = createTheme({
  primaryColor: 'cyan',
  // Contrast of white text on filled parts, and of links on the page.
  primaryShade: { light: 9, dark: 9 },
  autoContrast: true,
  cursorType: 'pointer',
  defaultRadius: 'md',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans TC", sans-serif',
  components: {
    // The text has the page's contrast, whatever its color says.
    Badge: Badge.extend({ defaultProps: { variant: 'dot', tt: 'none', fw: 500 } }),
    // Its placeholder is no item, and a menu has items alone. By name: the first page has no menu.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    // The tabs of a page fit on one line of a phone.
    Tabs: { styles: { tab: { paddingInline: 'clamp(7px, 2vw, var(--mantine-spacing-md))' } } },
    // Wide tables scroll on a phone, by keys too.
    TableScrollContainer: {
      defaultProps: { scrollAreaProps: { type: 'auto', viewportProps: { tabIndex: 0 } } },
    },
    PasswordInput: { defaultProps: { visibilityToggleButtonProps: { 'aria-label': texts.reveal } } },
    // Its label is read out.
    Loader: { defaultProps: { role: 'status' } },
    // Many are names that a user gave.
    Title: { styles: { root: { overflowWrap: 'anywhere' } } },
    // It would add a style element without a nonce.
    Modal: Modal.extend({
      defaultProps: { lockScroll: false, closeButtonProps: { 'aria-label': texts.close } },
    }),
  },
});

/** Darker than at rest; Mantine's own is lighter, and too light for white text. */
const HOVERED = {
  '--mantine-color-cyan-filled-hover': 'color-mix(in srgb, var(--mantine-color-cyan-9), black 20%)',
  '--mantine-primary-color-filled-hover': 'var(--mantine-color-cyan-filled-hover)',
};

/** Mantine's own tones are below the contrast of 4.5:1 that small text needs. @see WCAG 2.2, 1.4.3 */
export const readableColors: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...HOVERED,
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
  },
  dark: {
    ...HOVERED,
    '--mantine-color-dimmed': 'var(--mantine-color-gray-5)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-5)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
  },
});
