import { STATUS_CODES } from 'node:http';
import type { Dialect } from './dialects/dialect.ts';
import type { Store } from './store.ts';

/** One request, read to its end. */
export interface ApiRequest {
  readonly method: string;
  /** The request target: path and query as sent. */
  readonly target: string;
  readonly host: string;
  readonly accept: string | undefined;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly body: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a view decided, before it is written as JSON or as a page. */
export interface Outcome {
  readonly status: number;
  /** Absent: no body at all. */
  readonly value?: unknown;
  /** Sent as it is instead of `value`. */
  readonly text?: { readonly type: string; readonly body: string };
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a device holds and how it speaks. */
export interface Site {
  readonly store: Store;
  readonly dialect: Dialect;
}

/** What is behind one path. */
export interface View {
  readonly title: string;
  /** As in the `Allow` header; OPTIONS is left out of it where the dialect has none. */
  readonly allow: readonly string[];
  /** Whether it can be read only: then nobody needs a right to try. */
  readonly isReadOnly?: boolean;
  /** The fields, by method, that OPTIONS tells those who may write. */
  readonly actions?: () => Readonly<Record<string, unknown>>;
  /** For each allowed method but OPTIONS. */
  readonly answer: (request: ApiRequest) => Outcome;
}

export const CONTENT_TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
} as const;

export const HTML = 'text/html; charset=utf-8';

export function refusal(status: number, detail: string): Outcome {
  return { status, value: { detail } };
}

/** A path as the framework compares it. */
export function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

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
