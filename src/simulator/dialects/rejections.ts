import { STATUS_CODES } from 'node:http';
import { refusalPage } from '../pages.ts';
import { HTML, type ApiRequest, type Outcome } from '../view.ts';
import type { Dialect } from './dialect.ts';

/** Status codes by which the view itself rejects, not the login or the server. */
const REJECTIONS = [400, 404, 409];

/** How the dialect says no; what is no refusal stays as it is. */
export function shapeRejection(dialect: Dialect, request: ApiRequest, outcome: Outcome): Outcome {
  const { status, value } = outcome;
  if (status < 400) return outcome;
  if (dialect.profile === 'form-action') {
    // Only the server in front of the form knows status codes.
    const isOfServer = status === 401 || status === 405 || request.method !== 'POST';
    return isOfServer ? outcome : ok({ status: 'error', message: textIn(value) });
  }
  if (dialect.quirks.has('status-200-errors') && REJECTIONS.includes(status)) {
    return ok({ success: false, message: textIn(value) });
  }
  if (dialect.quirks.has('html-errors') && (status === 400 || status >= 500)) {
    const title = `${STATUS_CODES[status] ?? 'Error'} (${status})`;
    return { status, text: { type: HTML, body: refusalPage(title, textIn(value)) } };
  }
  return outcome;
}

function ok(value: unknown): Outcome {
  return { status: 200, value };
}

/** All that the body of a refusal says, in one line. */
function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textIn).join(' ');
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([name, inner]) => {
      const text = textIn(inner);
      return name === 'detail' || name === 'non_field_errors' ? text : `${name}: ${text}`;
    })
    .join(' ');
}
