import { serverPage } from '../../src/simulator/view.ts';

export const SERVER_ERROR_PAGE = serverPage('Server Error (500)', '');

export const LOGIN_PAGE = serverPage('Sign in', 'Please sign in to continue.');

/** The page of a server that refuses API requests in HTML. */
export function refusalPage(title: string, text: string): string {
  return serverPage(escape(title), escape(text));
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
