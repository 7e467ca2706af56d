import { STATUS_CODES } from 'node:http';

/** HTML that devices send where a program would like JSON. */

function serverPage(title: string, text: string): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    `<head><title>${title}</title></head>`,
    `<body><h1>${title}</h1><p>${text}</p></body>`,
    '</html>',
    '',
  ].join('\n');
}

export const NOT_FOUND_PAGE = serverPage(
  'Not Found',
  'The requested resource was not found on this server.',
);

export const SERVER_ERROR_PAGE = serverPage('Server Error (500)', '');

export const TOO_LARGE_PAGE = serverPage('Bad Request (400)', '');

/** What a server says that has pages even for what its API refuses. */
export function refusalPage(title: string, text: string): string {
  return serverPage(escape(title), escape(text));
}

export const LOGIN_PAGE = serverPage('Sign in', 'Please sign in to continue.');

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** What a browser is shown instead of the bare JSON. */
export function browsablePage(title: string, status: number, value: unknown): string {
  return [
    '<!DOCTYPE html>',
    `<html><head><meta charset="utf-8"><title>${title} – Device API</title></head>`,
    `<body><h1>${title}</h1>`,
    `<pre>HTTP ${status} ${STATUS_CODES[status] ?? ''}`,
    '',
    `${escape(JSON.stringify(value, null, 4))}</pre></body></html>`,
    '',
  ].join('\n');
}
