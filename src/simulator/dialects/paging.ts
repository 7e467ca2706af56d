import { refusal, type ApiRequest, type Outcome } from '../view.ts';
import type { Dialect } from './dialect.ts';

/** Which part of a list to show. */
export interface Page {
  readonly start: number;
  readonly end: number;
  /** What stands around the records to say which part it is. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The page that the query asks for, or the refusal where there is none. */
export function pageOf(dialect: Dialect, request: ApiRequest, total: number): Page | Outcome {
  const [, query = ''] = request.target.split('?', 2);
  const parameters = new URLSearchParams(query);
  switch (dialect.paging) {
    case 'none':
      return { start: 0, end: total, facts: {} };
    case 'next':
      return linkedPage(dialect, request, parameters, total);
    case 'page': {
      const rowCount = numberIn(parameters, 'rowCount', dialect.pageSize, -1);
      const size = rowCount < 1 ? Math.max(1, total) : rowCount;
      const current = numberIn(parameters, 'current', 1, 1);
      const start = Math.min(total, (current - 1) * size);
      const end = Math.min(total, start + size);
      return { start, end, facts: { rowCount: end - start, total, current } };
    }
    case 'offset': {
      const start = Math.min(total, numberIn(parameters, 'offset', 0, 0));
      const end = Math.min(total, start + numberIn(parameters, 'limit', dialect.pageSize, 1));
      return { start, end, facts: { total } };
    }
  }
}

/** As Django REST Framework pages by number: absolute links, and 404 behind the last page. */
function linkedPage(
  { pageSize, quirks }: Dialect,
  request: ApiRequest,
  parameters: URLSearchParams,
  total: number,
): Page | Outcome {
  const pages = Math.max(1, Math.ceil(total / pageSize));
  const page = Number(parameters.get('page') ?? 1);
  if (!Number.isInteger(page) || page < 1 || page > pages) return refusal(404, 'Invalid page.');
  const [path = ''] = request.target.split('?', 1);
  const origin = quirks.has('http-next') ? 'http://proxy.invalid' : `https://${request.host}`;
  const link = (wanted: number): string | null => {
    if (wanted < 1 || wanted > pages) return null;
    const other = new URLSearchParams(parameters);
    if (wanted === 1) other.delete('page');
    else other.set('page', String(wanted));
    return `${origin}${path}${other.size === 0 ? '' : `?${other.toString()}`}`;
  };
  const start = (page - 1) * pageSize;
  return {
    start,
    end: Math.min(total, start + pageSize),
    facts: {
      count: total,
      next: link(quirks.has('page-loop') ? page : page + 1),
      previous: link(page - 1),
    },
  };
}

function numberIn(
  parameters: URLSearchParams,
  name: string,
  fallback: number,
  lowest: number,
): number {
  const text = parameters.get(name) ?? '';
  const number = /^-?\d{1,9}$/.test(text) ? Number(text) : fallback;
  return number < lowest ? fallback : number;
}
