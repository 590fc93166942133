/** The lists of the page of tests, in its address. */
export const TESTS_TABS = ['suites', 'cases', 'runs'] as const;
export type TestsTab = (typeof TESTS_TABS)[number];
