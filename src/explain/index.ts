/** What the command line loads of the explanations. */
export { explain, listTopics } from './explain.ts';
export { renderPageJson } from './json-page.ts';
export { renderPageText } from './text-page.ts';
