import { issuesOf } from './complaint.ts';
import type { Credential } from './credential.ts';
import type { FieldIssues } from './errors.ts';
import type { Answer, HttpRequest } from './exchange.ts';
import type { DeviceRef } from './record.ts';
import { redact } from './redact.ts';

/** What a message needs to know besides the failure itself. */
export interface Circumstances {
  readonly device: DeviceRef;
  readonly request: Pick<HttpRequest, 'method' | 'path'>;
  readonly credential: Credential | undefined;
  /** `through the proxy http://proxy:3128`; undefined for a device that is reached directly. */
  readonly via?: string | undefined;
  /** The fields that were sent: complaints are about them, whatever they are wrapped in. */
  readonly fields?: readonly string[];
  /** Values that were sent and must not come back in a message: new passwords and tokens. */
  readonly secrets?: readonly string[];
}

/** As much of a body as `--raw` may want to show. */
const KEPT_BODY = 64 * 1024;

/** As much of an answer as an error keeps. */
export function redactedAnswer(circumstances: Circumstances, answer: Answer): Answer {
  // Before it is cut: what is left of a secret at the edge would not be known again.
  const start = { ...answer, body: answer.body.slice(0, 2 * KEPT_BODY) };
  const clean = withoutSecrets(circumstances, start);
  return { ...clean, body: clean.body.slice(0, KEPT_BODY) };
}

/** An answer without what it was sent: a device may repeat that. */
export function withoutSecrets(circumstances: Circumstances, answer: Answer): Answer {
  return {
    ...answer,
    body: redacted(circumstances, answer.body),
    headers: Object.fromEntries(
      Object.entries(answer.headers).map(([name, text]) => [name, redacted(circumstances, text)]),
    ),
  };
}

/** Redacted once more: what JSON has unescaped could not be known before. */
export function redactedIssues(circumstances: Circumstances, body: string): FieldIssues {
  const issues = Object.entries(issuesOf(body, circumstances.fields));
  return Object.fromEntries(
    issues.map(([field, texts]) => [
      redacted(circumstances, field),
      texts.map((text) => redacted(circumstances, text)),
    ]),
  );
}

export function redacted({ credential, secrets = [] }: Circumstances, text: string): string {
  return redact(credential?.redact(text) ?? text, secrets);
}
